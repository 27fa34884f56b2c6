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
  /** What is packed of usage, for reports. @default everything is read live */
  readonly sheets?: Pick<SheetStore, 'read'>;
  /** What statements are made of. @default nobody is told one */
  readonly books?: StatementBooks;
  /** What the last recount of all records found. @default nobody recounts */
  readonly recounts?: Pick<RecountOutcomes, 'read'>;
  /** Which rejected jobs are to be retried. @default nobody is told of retries */
  readonly requeue?: Pick<RequeueLists, 'read'>;
  /** `placesNow`; undefined: no groups are known, and nobody but who sees all sees anything. */
  readonly places: () => Promise<Places | undefined>;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  readonly clock: { nowMs(): number };
  /** Ids of jobs decided lately, for whoever counts back from them; beside those of jobs rejected last. @default none */
  readonly recentJobIds?: () => Promise<readonly number[]>;
  /** Copies of all counters, for pages that rank thousands. @default each is read on its own */
  readonly counterSnapshots?: Pick<CounterSnapshots, 'read'>;
  /** For deadlines: never steps back, ms. @default performance.now */
  readonly monotonicMs?: () => number;
  /** What owners were told of the levels of their limits. @default nobody notes it */
  readonly alerts?: Pick<AlertRecordStore, 'read'>;
  /** What GitLab says of these runners, by id; those it does not tell of are left out. @default nothing is known of any */
  readonly runnerDetails?: RunnerDetails;
  /** What GitLab calls users. @default they are told by number */
  readonly userNames?: UserNames;
  /** `https://gitlab.example.com`, for links to jobs. */
  readonly gitlabUrl?: string;
  /** `https://budget.example.com`, as rejections name it. */
  readonly consoleUrl?: string;
}

/** What the read models share for one process. */
export interface ReadContext extends ReadingDeps {
  readonly counters: CurrentCounters;
  readonly limits: () => Promise<CurrentLimits>;
  readonly pools: (limits: LimitSet, directory: Places['directory']) => Pools;
  readonly countedLimits: ReturnType<typeof countedLimitsNow>;
}
