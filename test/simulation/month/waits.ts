import { LINES_MAX, type WaitingTerms } from '../../../functions/core/contract/admissions.ts';
import { WAITING_OF_ROOT_MAX } from '../../../relay/wait-queue.ts';
import type { ExpectedTurn } from '../answers.ts';
import { must } from '../findings.ts';
import type { TrueJob } from '../gitlab.ts';
import { type ExpectedAsk, expectedVerdict } from '../rulebook/asked-claims.ts';
import { type ExpectedWaiter, WaitingJobs } from '../rulebook/waiting-jobs.ts';
import type { World } from '../world.ts';
import type { RelayAnswer } from './relays.ts';
import { TABLE_SILENT, WAITS } from './shape.ts';

/** Requests within a quarter of a second are one batch, and a table that fails is asked for two seconds. */
const LATE_MS = 2_500;

export class ExpectedWaits {
  readonly counts = { waited: 0, admitted: 0, rejected: 0, longestMs: 0 };
  readonly #world: World;
  readonly #relays = [new WaitingJobs(WAITS.answerWithinMs), new WaitingJobs(WAITS.answerWithinMs)] as const;

  constructor(world: World) {
    this.#world = world;
  }

  /** The terms that a relay must send for a job; from its own terms only the slot and the last request count. */
  turnOf(relay: number, jobId: number, { lines = [], jobs = [] }: WaitingTerms): ExpectedTurn {
    const waiting = this.#at(relay);
    const job = waiting.get(jobId);
    const { turn = [], last: isLast = false, waitedMs = 0 } = jobs.find((each) => each.jobId === jobId) ?? {};
    const named = waiting.awaited.size < LINES_MAX ? waiting.awaited : new Set(lines);
    const awaited = new Set([...named].filter((name) => !turn.includes(name)));
    if (job === undefined) return { waitedMs: 0, isLast, awaited };
    const nowMs = this.#world.clock.nowMs();
    this.#compare(() => {
      const foreign = turn.find((name) => !job.counters.includes(name));
      must(foreign === undefined, `job ${jobId} may take of ${foreign}, for which it does not wait`);
      const until = new Date(job.untilMs).toISOString();
      must(!isLast || nowMs >= job.untilMs, `job ${jobId} is asked about last, and may wait until ${until}`);
    });
    const isSame = Math.abs(nowMs - job.sinceMs - waitedMs) <= 1;
    return { waitedMs: isSame ? waitedMs : nowMs - job.sinceMs, isLast, awaited };
  }

  waits(relay: number, job: TrueJob, askedAtMs: number, counters: readonly string[], leftMs: number): void {
    const waiting = this.#at(relay);
    const { jobId } = job;
    if (waiting.get(jobId) === undefined) this.counts.waited += 1;
    const rootId = this.#world.rootOf(job.projectId);
    waiting.waits({ jobId, rootId, askedAtMs }, counters, leftMs, this.#world.clock.nowMs());
    const ofRoot = waiting.all.filter((other) => other.rootId === rootId);
    if (ofRoot.length > WAITING_OF_ROOT_MAX)
      this.#compare(() => must(false, `job ${jobId} waits, and too many of its root group do`));
  }

  admitted(relay: number, { jobId, projectId }: TrueJob, ask: ExpectedAsk): void {
    const counters = ask.claims.map(({ counter }) => counter);
    const passed = this.#at(relay).admitted(jobId, this.#world.rootOf(projectId), counters);
    if (passed !== undefined)
      this.#compare(() => must(false, `job ${passed.jobId} is passed too often, at last by ${jobId}`));
  }

  answered(relay: number, { question, outcome: { outcome }, leftBy }: RelayAnswer): void {
    const { jobId } = question.job;
    const nowMs = this.#world.clock.nowMs();
    if (leftBy !== undefined)
      this.#compare(() => must(false, `job ${jobId} is left to the fallback: ${leftBy}`));
    const job = this.#at(relay).get(jobId);
    if (job === undefined) return;
    this.#at(relay).left(jobId);
    const tookMs = nowMs - job.askedAtMs;
    this.#compare(() =>
      must(tookMs <= WAITS.answerWithinMs + LATE_MS, `job ${jobId} was answered after ${tookMs} ms`),
    );
    if (outcome === 'admitted' || outcome === 'rejected') this.counts[outcome] += 1;
    this.counts.longestMs = Math.max(this.counts.longestMs, nowMs - job.sinceMs);
  }

  gone(relay: number, jobId?: number): void {
    if (jobId === undefined) this.#at(relay).clear();
    else this.#at(relay).left(jobId);
  }

  look(): void {
    const nowMs = this.#world.clock.nowMs();
    const isSilent = nowMs >= TABLE_SILENT.fromMs && nowMs < TABLE_SILENT.untilMs + WAITS.answerWithinMs;
    for (const waiting of this.#relays) {
      if (waiting.all.length === 0 || isSilent) continue;
      const job = waiting.besideRoom((each) => this.#fits(each, nowMs), nowMs);
      if (job !== undefined)
        this.#compare(() => must(false, `job ${job.jobId} waits while there is room for it`));
    }
  }

  #fits({ jobId }: ExpectedWaiter, nowMs: number): boolean {
    const { answers, books, gitlab, ruleSet } = this.#world;
    const { claims } = answers.askOf(gitlab.byId(jobId), ruleSet, nowMs);
    return expectedVerdict(claims, (counter) => books.sumsOf(counter), new Set()).refusedBy.length === 0;
  }

  #compare(check: () => void): void {
    this.#world.findings.compare('waits', check);
  }

  #at = (relay: number): WaitingJobs => (relay === 0 ? this.#relays[0] : this.#relays[1]);
}
