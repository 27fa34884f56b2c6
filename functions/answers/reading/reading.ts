import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { RunnerDetails, UserNames } from '../../core/gitlab/index.ts';
import type { Ledger, RecountOutcomes } from '../../core/ledger/index.ts';
import type { LimitsDesk, LimitTable } from '../../core/limits/index.ts';
import type { RequeueLists } from '../../core/requeue/index.ts';
import type { SheetStore } from '../../core/sheets/index.ts';
import type { AlertRecordStore } from '../../core/thresholds/alert-records.ts';
import type { CounterSnapshots, RollupStore } from '../../core/usage/index.ts';
import type { countedLimitsNow } from '../standing/counted-limits.ts';
import type { CurrentCounters } from './counters-now.ts';
import type { CurrentLimits } from './limits-now.ts';
import type { Pools } from './pools.ts';
import type { Places } from './scope.ts';
import type { StatementBooks } from './statement-books.ts';

export interface ReadingDeps {
  readonly desk: Pick<
    LimitsDesk,
    'live' | 'at' | 'preview' | 'history' | 'edit' | 'request' | 'requests' | 'decide' | 'breakGlasses'
  >;
  /** The pointer, and what was carried over. */
  readonly limitTable: LimitTable;
  /** In force until a first set is live. */
  readonly packedLimits: LimitSet;
  readonly policy: Policy;
  readonly ledger: Pick<Ledger, 'readCounters' | 'readRecords'>;
  readonly usage: Pick<RollupStore, 'readUsage' | 'readTop' | 'readEstimates' | 'readRejections'>;
  /** Packed usage, for reports. @default all read live */
  readonly sheets?: Pick<SheetStore, 'read'>;
  /** Sources of statements. @default no statements */
  readonly books?: StatementBooks;
  /** Result of the last recount. @default none */
  readonly recounts?: Pick<RecountOutcomes, 'read'>;
  /** Jobs to retry. @default no retries */
  readonly requeue?: Pick<RequeueLists, 'read'>;
  /** `placesNow`; undefined: no groups are known, and only users who see everything see any. */
  readonly places: () => Promise<Places | undefined>;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  readonly clock: { nowMs(): number };
  /** Recent job ids, in addition to recently rejected jobs. @default none */
  readonly recentJobIds?: () => Promise<readonly number[]>;
  /** Copies of all counters, for pages that rank thousands. @default each is read on its own */
  readonly counterSnapshots?: Pick<CounterSnapshots, 'read'>;
  /** For deadlines: never steps back, ms. @default performance.now */
  readonly monotonicMs?: () => number;
  /** Sent threshold alerts. @default none */
  readonly alerts?: Pick<AlertRecordStore, 'read'>;
  /** Details of runners by id; unknown ones are left out. @default none */
  readonly runnerDetails?: RunnerDetails;
  /** Names of users. @default numbers */
  readonly userNames?: UserNames;
  /** `https://gitlab.example.com`, for links to jobs. */
  readonly gitlabUrl?: string;
  /** `https://budget.example.com`, as rejections name it. */
  readonly consoleUrl?: string;
}

/** Shared by the read models of one process. */
export interface ReadContext extends ReadingDeps {
  readonly counters: CurrentCounters;
  readonly limits: () => Promise<CurrentLimits>;
  readonly pools: (limits: LimitSet, directory: Places['directory']) => Pools;
  readonly countedLimits: ReturnType<typeof countedLimitsNow>;
}
