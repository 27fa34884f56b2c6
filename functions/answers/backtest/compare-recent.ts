/** Which jobs of the last days an edit would have failed, within what one request may take. */
import type { CounterKey } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Counter, JobRecord } from '../../core/ledger/index.ts';
import { filledCounters } from './filled-counters.ts';
import type { JobSubjects } from './job-subjects.ts';
import type { BacktestCounts } from './model.ts';
import { BacktestQuestions } from './question.ts';
import { type ReadBounds, type RecordReader, readRecentRecords } from './recent-records.ts';
import { Replay, type ReplayedJob } from './replay.ts';

interface CompareEdit {
  /** Unix ms; jobs decided in it are judged, as far back as can be read. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly policy: Policy;
  readonly directory: Directory;
  readonly before: LimitSet;
  readonly after: LimitSet;
  /** The subjects whose jobs are counted. */
  readonly subjects: JobSubjects;
}

/** Which jobs an edit would have failed, by whatever records can be read. */
export type EditComparison = (asked: CompareEdit) => Promise<BacktestComparison>;

interface CompareRecent extends CompareEdit {
  /** Where to begin rather than at an instant from which on everything was read: at or after it, e.g. with its next day. */
  readonly beginAt: (fromMs: number) => number;
  readonly reads: RecordReader & {
    readonly readCounters: (keys: readonly CounterKey[]) => Promise<readonly Counter[]>;
    /** See `FillWith`; with all jobs of the replay, whose use is not to be counted twice. */
    readonly usedBefore: (
      limit: Limit,
      startMs: number,
      replay: { readonly fromMs: number; readonly records: readonly JobRecord[] },
    ) => Promise<number>;
  };
  readonly bounds: CompareBounds;
  /** Told of each job that is counted, as it is decided under both. */
  readonly onJudged?: (asIs: ReplayedJob, edited: ReplayedJob) => void;
}

interface CompareBounds extends Omit<ReadBounds, 'deadlineMs'> {
  /** On `monotonicMs`: no read begins after the first, no job is replayed after the second. */
  readonly readDeadlineMs: number;
  readonly replayDeadlineMs: number;
}

export interface BacktestComparison {
  /** The part of the asked span that was judged; equal to `untilMs` if nothing was. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Everything asked about was judged. */
  readonly complete: boolean;
  /** Jobs of any subject. */
  readonly all: BacktestCounts;
  readonly bySubject: ReadonlyMap<string, BacktestCounts>;
  readonly jobsRead: number;
}

/** A look at the clock is cheap beside so many jobs. */
const LOOK_EVERY = 200;

/** @throws {LedgerError} where the table gives no answer. */
export async function compareRecent(asked: CompareRecent): Promise<BacktestComparison> {
  const { sinceMs, untilMs, policy, directory, before, after, beginAt, subjects, reads, bounds, onJudged } =
    asked;
  const { readDeadlineMs, replayDeadlineMs, monotonicMs } = bounds;
  const { records, fromMs: readFromMs } = await readRecentRecords(reads, sinceMs, {
    ...bounds,
    deadlineMs: readDeadlineMs,
  });
  const fromMs = Math.min(untilMs, beginAt(Math.max(sinceMs, readFromMs)));
  const isCounted = (record: JobRecord): boolean =>
    record.decidedAtMs >= fromMs && record.decidedAtMs < untilMs;
  const begun = async (limits: LimitSet) => {
    const { counters, complete } = await filledCounters({
      fromMs,
      records,
      judged: (record) => isCounted(record) && subjects.of(record).length > 0,
      limits,
      directory,
      readCounters: reads.readCounters,
      usedBefore: (limit, startMs) => reads.usedBefore(limit, startMs, { fromMs, records }),
    });
    return {
      replay: new Replay(new BacktestQuestions({ policy, limits, directory }), fromMs, counters),
      complete,
    };
  };
  const [now, then] = [await begun(before), await begun(after)];
  const tally = new ComparisonTally();
  let judgedToMs = untilMs;
  for (const [index, record] of records.entries()) {
    if (record.decidedAtMs >= untilMs) break;
    if (index % LOOK_EVERY === 0 && monotonicMs() >= replayDeadlineMs) {
      judgedToMs = Math.max(fromMs, record.decidedAtMs);
      break;
    }
    const [asIs, edited] = [now.replay.next(record), then.replay.next(record)];
    if (!isCounted(record)) continue;
    const counted = subjects.of(record);
    tally.add(counted, asIs, edited);
    if (counted.length > 0 && asIs !== undefined && edited !== undefined) onJudged?.(asIs, edited);
  }
  return {
    fromMs,
    untilMs: judgedToMs,
    complete: now.complete && then.complete && fromMs <= sinceMs && judgedToMs === untilMs,
    ...tally.figures(),
    jobsRead: records.length,
  };
}

/** Jobs of the subjects, with what became of them under both sets of limits. */
export class ComparisonTally {
  readonly #all = new Count();
  readonly #bySubject = new Map<string, Count>();

  /** @param of - subjects of the job. @param asIs - undefined: nobody was asked. */
  add(of: readonly string[], asIs: ReplayedJob | undefined, edited: ReplayedJob | undefined): void {
    if (of.length === 0) return;
    const fate = asIs && edited && fateOf(asIs, edited);
    this.#all.add(fate);
    for (const subject of of) {
      const count = this.#bySubject.get(subject) ?? new Count();
      this.#bySubject.set(subject, count);
      count.add(fate);
    }
  }

  figures(): Pick<BacktestComparison, 'all' | 'bySubject'> {
    const bySubject = [...this.#bySubject].map(([subject, count]) => [subject, count.figures()] as const);
    return { all: this.#all.figures(), bySubject: new Map(bySubject) };
  }
}

type Fate = Readonly<Record<'wouldFail' | 'wouldWait' | 'wouldFailNow' | 'failed', boolean>>;

const fateOf = (asIs: ReplayedJob, edited: ReplayedJob): Fate => ({
  wouldFail: edited.now?.state === 'REJECTED',
  wouldWait: edited.waitedMs !== undefined,
  wouldFailNow: asIs.now?.state === 'REJECTED',
  failed: asIs.rejectedThen,
});

class Count {
  #jobs = 0;
  #wouldFail = 0;
  #wouldFailNow = 0;
  #wouldWait = 0;
  #failed = 0;
  #unasked = 0;

  /** @param fate - undefined: nobody was asked. */
  add(fate: Fate | undefined): void {
    if (fate === undefined) {
      this.#unasked += 1;
      return;
    }
    this.#jobs += 1;
    if (fate.wouldFail) this.#wouldFail += 1;
    if (fate.wouldFailNow) this.#wouldFailNow += 1;
    if (fate.wouldWait) this.#wouldWait += 1;
    if (fate.failed) this.#failed += 1;
  }

  figures(): BacktestCounts {
    return {
      jobs: this.#jobs,
      wouldFail: this.#wouldFail,
      wouldFailNow: this.#wouldFailNow,
      ...(this.#wouldWait > 0 && { wouldWait: this.#wouldWait }),
      failed: this.#failed,
      unasked: this.#unasked,
    };
  }
}
