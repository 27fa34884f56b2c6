import type { JobRecord } from '../../core/ledger/index.ts';
import type { JobSubjects } from './job-subjects.ts';
import type { BacktestCounts } from './model.ts';
import type { ReplayedJob } from './replay.ts';

/** Is kept as JSON. */
export interface ComparedJobs {
  /** Jobs of any subject. */
  readonly all: BacktestCounts;
  readonly bySubject: readonly (readonly [subject: string, BacktestCounts])[];
}

type Open<Row> = { -readonly [Key in keyof Row]: Row[Key] };

export const NO_JOBS: BacktestCounts = { jobs: 0, wouldFail: 0, wouldFailNow: 0, failed: 0, unasked: 0 };

/** Sums up the subjects' jobs with their results under both sets of limits. */
export class ComparisonTally {
  readonly #subjects: JobSubjects;
  readonly #all: Open<BacktestCounts>;
  readonly #bySubject: Map<string, Open<BacktestCounts>>;

  constructor(subjects: JobSubjects, { all, bySubject }: ComparedJobs = { all: NO_JOBS, bySubject: [] }) {
    this.#subjects = subjects;
    this.#all = { ...all };
    this.#bySubject = new Map(bySubject.map(([subject, counts]) => [subject, { ...counts }]));
  }

  /** @param asIs - undefined: without an admission request. */
  readonly add = (record: JobRecord, asIs?: ReplayedJob, edited?: ReplayedJob): void => {
    const of = this.#subjects.of(record);
    if (of.length === 0) return;
    count(this.#all, asIs, edited);
    for (const subject of of) {
      const counts = this.#bySubject.get(subject) ?? { ...NO_JOBS };
      this.#bySubject.set(subject, counts);
      count(counts, asIs, edited);
    }
  };

  readonly figures = (): ComparedJobs => ({ all: this.#all, bySubject: [...this.#bySubject] });
}

function count(counts: Open<BacktestCounts>, asIs?: ReplayedJob, edited?: ReplayedJob): void {
  if (asIs === undefined || edited === undefined) {
    counts.unasked += 1;
    return;
  }
  counts.jobs += 1;
  if (edited.now?.state === 'REJECTED') counts.wouldFail += 1;
  if (asIs.now?.state === 'REJECTED') counts.wouldFailNow += 1;
  if (edited.waitedMs !== undefined) counts.wouldWait = (counts.wouldWait ?? 0) + 1;
  if (asIs.rejectedThen) counts.failed += 1;
}
