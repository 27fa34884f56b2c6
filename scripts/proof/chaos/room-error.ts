/** By how much the rooms of relays that answered alone were wrong: jobs that really ran beyond a cap, whatever the books say. */
import { chaosCapOf, rootOf } from './chaos-rules.ts';

/** A job that ran, by the clock of whoever ran it. */
export interface ChaosRun {
  readonly jobId: number;
  readonly projectId: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface RoomErrorFigure {
  /** The most that ran beyond a cap at once, by its subject. */
  readonly most: Readonly<Record<string, number>>;
  /** Starts beyond a cap that no job explains which a relay had admitted alone: must stay 0. */
  readonly unexplained: number;
}

/** @param isByLedger - whether the ledger admitted it; who gave an answer that nobody logged is not known. */
export function roomError(
  runs: readonly ChaosRun[],
  isByLedger: (jobId: number) => boolean,
): RoomErrorFigure {
  const most: Record<string, number> = {};
  let unexplained = 0;
  // An end makes room for whoever begins at the same moment.
  const steps = runs
    .flatMap((run) => [
      { atMs: run.fromMs, by: 1, run },
      { atMs: run.toMs, by: -1, run },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  for (const subject of new Set(runs.flatMap(subjectsOfRun))) {
    const cap = chaosCapOf(subject);
    if (cap === undefined) continue;
    let [running, alone] = [0, 0];
    for (const { by, run } of steps) {
      if (!subjectsOfRun(run).includes(subject)) continue;
      running += by;
      if (!isByLedger(run.jobId)) alone += by;
      const over = running - cap;
      most[subject] = Math.max(most[subject] ?? 0, over);
      if (by > 0 && over > alone) unexplained += 1;
    }
  }
  return { most, unexplained };
}

const subjectsOfRun = ({ projectId }: ChaosRun): readonly string[] => [
  'instance',
  `group/${rootOf(projectId)}`,
];
