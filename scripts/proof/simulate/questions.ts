/** All questions of the month in the order of their time: each job's own, and a second one where the first answer is lost. */
import { Agenda } from './agenda.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Tree } from './tree.ts';

export interface SimulatedQuestion {
  readonly job: PlannedJob;
  readonly atMs: number;
  /** GitLab hears the answer. */
  readonly isHeard: boolean;
}

export class SimulatedQuestions {
  readonly #jobs: readonly PlannedJob[];
  readonly #again = new Agenda<SimulatedQuestion>();
  #position = 0;

  /** @param jobs - in the order of their first questions. */
  constructor(jobs: readonly PlannedJob[]) {
    this.#jobs = jobs;
  }

  get nextMs(): number {
    return Math.min(this.#jobs[this.#position]?.askedAtMs ?? Number.POSITIVE_INFINITY, this.#again.nextMs);
  }

  /** Those before this time. */
  takeBefore(untilMs: number): readonly SimulatedQuestion[] {
    const first: SimulatedQuestion[] = [];
    for (;;) {
      const job = this.#jobs[this.#position];
      if (job === undefined || job.askedAtMs >= untilMs) break;
      this.#position += 1;
      const { askedAtMs: atMs, askedAgainMs } = job;
      first.push({ job, atMs, isHeard: askedAgainMs === undefined });
      if (askedAgainMs === undefined) continue;
      const againAtMs = atMs + askedAgainMs;
      this.#again.add(againAtMs, { job, atMs: againAtMs, isHeard: true });
    }
    return [...first, ...this.#again.takeUntil(untilMs - 1)].sort((a, b) => a.atMs - b.atMs);
  }
}

/** By root group: a relay sends those of one together. */
export function questionsByRoot(
  questions: readonly SimulatedQuestion[],
  tree: Tree,
): readonly SimulatedQuestion[][] {
  const byRoot = new Map<number, SimulatedQuestion[]>();
  for (const question of questions) {
    const root = tree.placeOf(question.job).groupIds[0] ?? 0;
    const batch = byRoot.get(root);
    if (batch === undefined) byRoot.set(root, [question]);
    else batch.push(question);
  }
  return [...byRoot.values()];
}
