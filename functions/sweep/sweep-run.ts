import type { LedgerClock } from '../core/environment/index.ts';
import type { JobTruth } from '../core/gitlab/index.ts';
import type { ControllerScope, DueJob, Ledger, ReportedEnds, SweepMarkStore } from '../core/ledger/index.ts';
import type { ConcludeDeps, VerdictWriter } from '../core/truth/index.ts';
import type { SweepGitLab } from './asking.ts';
import type { SweepTally } from './report.ts';
import type { SweepMemory } from './sweep-memory.ts';

/** The sweep's interface to the ledger: it never admits. */
export type SweepLedger = Pick<
  Ledger,
  'dueJobs' | 'readRecords' | 'settle' | 'release' | 'expire' | 'postpone' | 'endReservations'
>;

/** Shared by the parts of one run. */
export interface SweepRun {
  readonly ledger: SweepLedger;
  readonly clock: LedgerClock;
  readonly asking: SweepGitLab;
  readonly concluding: VerdictWriter;
  /** Dependencies for writing decisions. */
  readonly concludeDeps: ConcludeDeps;
  readonly marks: SweepMarkStore;
  readonly reported: ReportedEnds | undefined;
  /** Undefined: every job is to be asked about. */
  readonly scope: ControllerScope | undefined;
  readonly memory: SweepMemory;
  readonly tally: SweepTally;
  /** Jobs GitLab was asked about in this run. */
  readonly looked: Set<number>;
  /** All live holds as the due index showed them at the start, oldest due first; at most `LIVE_MAX`. */
  readonly live: readonly DueJob[];
  readonly liveIds: ReadonlySet<number>;
  /** Running jobs without a live hold, by job id: perhaps unadmitted. */
  readonly strangers: Map<number, JobTruth>;
}
