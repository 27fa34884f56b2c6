import type { Directory } from '../../../policies/directory.ts';
import { historyEstimator } from '../../../policies/estimate.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { RunnerDetails, UserNames } from '../../core/gitlab/cached-answers.ts';
import type { RecountOutcomes } from '../../core/ledger/checkpoints.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import type { LimitEdits } from '../../core/limits/create-limit-edits.ts';
import type { Requester, Rights, Role } from '../../core/limits/edit-outcomes.ts';
import type { LimitTable } from '../../core/limits/limit-table.ts';
import type { RequeueLists } from '../../core/requeue-list.ts';
import type { SheetStore } from '../../core/sheets/sheet-store.ts';
import type { Roles, User } from '../../core/signin/model.ts';
import type { StatementChain } from '../../core/statements/closed-statement.ts';
import type { PriceListStore } from '../../core/statements/price-lists.ts';
import type { AlertRecordStore } from '../../core/thresholds/alert-records.ts';
import type { CounterSnapshots } from '../../core/usage/counter-snapshot.ts';
import type { RollupStore } from '../../core/usage/rollup-store.ts';
import type { CurrentCounters } from './counters-now.ts';
import { NOWHERE, type Places, type Scope, scopeOf } from './scope.ts';

export type Caller = Pick<User, 'id' | 'username' | 'name' | 'roles'>;

export interface ReadingDeps {
  readonly limitEdits: Pick<
    LimitEdits,
    'live' | 'at' | 'preview' | 'history' | 'edit' | 'request' | 'requests' | 'decide' | 'breakGlasses'
  >;
  /** The pointer, and carried amounts. */
  readonly limitTable: LimitTable;
  /** In force until a first set is live. */
  readonly packedLimits: LimitSet;
  readonly policy: Policy;
  readonly ledger: Pick<Ledger, 'readCounters' | 'readRecords'>;
  readonly usage: Pick<RollupStore, 'readUsage' | 'readTop' | 'readEstimates' | 'readRejections'>;
  readonly sheets?: Pick<SheetStore, 'read'>;
  readonly books?: {
    readonly instance: string;
    /** For people: `table tollgate-ledger`. */
    readonly description: string;
    /** All records, for programs that may read the whole table. Absent: statements use days only. */
    readonly jobs?: Pick<LedgerStore, 'scan' | 'readEntries'>;
    readonly usage?: Pick<RollupStore, 'readUsage'>;
    readonly chain?: Pick<StatementChain, 'of' | 'numbers' | 'register'>;
    readonly prices?: Pick<PriceListStore, 'changes' | 'text'>;
  };
  readonly recounts?: Pick<RecountOutcomes, 'read'>;
  readonly requeue?: Pick<RequeueLists, 'read'>;
  /** Undefined: no groups are known, and only callers who see everything see any. */
  readonly places: () => Promise<Places | undefined>;
  readonly zone: string;
  readonly clock: { nowMs(): number };
  /** Recent job ids, in addition to recently rejected jobs. @default none */
  readonly recentJobIds?: () => Promise<readonly number[]>;
  /** Copies of all counters, to rank thousands. @default each is read on its own */
  readonly counterSnapshots?: Pick<CounterSnapshots, 'read'>;
  /** For deadlines: never steps back, ms. @default performance.now */
  readonly monotonicMs?: () => number;
  readonly alerts?: Pick<AlertRecordStore, 'read'>;
  readonly runnerDetails?: RunnerDetails;
  /** @default numbers in place of names */
  readonly userNames?: UserNames;
  /** `https://gitlab.example.com`, for links to jobs. */
  readonly gitlabUrl?: string;
  /** `https://budget.example.com`, as in rejection texts. */
  readonly consoleUrl?: string;
}

export interface ReadContext extends ReadingDeps {
  readonly counters: CurrentCounters;
  readonly limits: () => Promise<CurrentLimits>;
}

export interface CurrentLimits {
  /** Undefined: none was ever live, and the limits packed with the code are in force. */
  readonly set: string | undefined;
  readonly limits: LimitSet;
}

export interface CallerView extends CurrentLimits {
  readonly places: Places;
  readonly directory: Directory;
  readonly scope: Scope;
  readonly nowMs: number;
}

export async function readCallerView(
  { limits, places, clock }: Pick<ReadContext, 'limits' | 'places' | 'clock'>,
  caller: Pick<Caller, 'roles'>,
): Promise<CallerView> {
  const [current, sight] = await Promise.all([limits(), readPlaces({ places }, caller)]);
  return { ...current, ...sight, nowMs: clock.nowMs() };
}

export async function readPlaces(
  { places: groups }: Pick<ReadContext, 'places'>,
  { roles }: Pick<Caller, 'roles'>,
) {
  const places = (await groups()) ?? NOWHERE;
  return { places, directory: places.directory, scope: scopeOf(roles, places.directory) };
}

/** Cuts a page from a list. A cursor is the number of rows before the page. */
export function pageOf<Row>(
  all: readonly Row[],
  { cursor, max }: { readonly cursor?: string; readonly max?: number },
  bounds: { readonly usual: number; readonly max: number },
) {
  const length = Math.min(bounds.max, Math.max(1, max ?? bounds.usual));
  const start = Math.min(offsetOf(cursor), all.length);
  return {
    start,
    rows: all.slice(start, start + length),
    first: start < all.length ? start + 1 : 0,
    next: start + length < all.length ? { next: String(start + length) } : {},
    previous: start > 0 ? { previous: String(Math.max(0, start - length)) } : {},
  };
}

export const offsetOf = (cursor = ''): number => (/^\d{1,7}$/.test(cursor) ? Number(cursor) : 0);

/** Reads what the admit function decides by: policy, live limits with carried amounts, groups of the last sync, estimates. */
export async function rulesNow(reading: ReadContext, caller: Pick<Caller, 'roles'>) {
  const { policy, usage } = reading;
  const view = await readCallerView(reading, caller);
  const { limits, directory, nowMs } = view;
  const rulesFor = async (projectId: number | undefined) => {
    const stored = projectId === undefined ? [] : await usage.readEstimates([projectId]);
    const estimator = historyEstimator(() => stored[0]?.history);
    return { policy, limits, directory, nowMs, estimator };
  };
  return { view, rulesFor };
}

/** User id of callers without a GitLab sign-in, such as the command line; GitLab's ids start at 1. */
export const NO_USER_ID = 0;

export const actingUser = ({ id, username, roles }: Pick<User, 'id' | 'username' | 'roles'>): Requester => ({
  actor: username,
  ...(id !== NO_USER_ID && { userId: id }),
  rights: rightsOf(roles),
});

export function rightsOf({ admin, finance, ownedGroupIds, viewerGroupIds }: Roles): Rights {
  const rights: Role[] = [];
  if (admin) rights.push({ role: 'admin' });
  if (finance) rights.push({ role: 'finance' });
  if (ownedGroupIds.length > 0) rights.push({ role: 'owner', groups: ownedGroupIds });
  if (viewerGroupIds.length > 0) rights.push({ role: 'viewer', groups: viewerGroupIds });
  return rights;
}
