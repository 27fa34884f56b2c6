import type { LimitClaim } from '../../policies/claim.ts';
import { type EvaluationContext, evaluate } from '../../policies/evaluate.ts';
import { resourceVariableName } from '../../policies/kubernetes/resource-variables.ts';
import type { RequeueSettings } from '../../policies/policy.ts';
import { requestOfRecord } from '../../policies/request/recorded.ts';
import { missingRoom } from '../../policies/requeue.ts';
import { ALL_UNITS, isInFlight, unitRow, writtenUnits } from '../../policies/unit.ts';
import type { JobRecord } from './ledger/ledger.ts';
import { itemAt, readItem, timedTable, writeItem } from './store/calls.ts';
import { ledgerKeys } from './store/keys.ts';
import { atRev, type InstanceTable } from './store/operation.ts';

/** A job that was rejected for lack of slots alone. */
export interface RequeueEntry {
  readonly jobId: number;
  readonly projectId: number;
  readonly root: number;
  readonly rejectedAtMs: number;
  /** When the first of its retries was rejected, or it itself. */
  readonly firstAtMs: number;
  /** Retries made before, this one included once it is made. */
  readonly retries: number;
  /** `retrying`: GitLab is asked, or its response was lost. `over`: it is not retried, or not again. */
  readonly state: 'waiting' | 'retrying' | 'retried' | 'over';
  readonly newJobId?: number;
  readonly retriedAtMs?: number;
  readonly askedAfterMs?: number;
  readonly againAtMs?: number;
  /** Why it is over, or why it still waits after it was tried. */
  readonly why?: string;
}

export interface RequeueList {
  readonly groupId: number;
  readonly entries: readonly RequeueEntry[];
  readonly rev: number;
}

export type RequeueLists = ReturnType<typeof dynamoRequeueLists>;

/** Some 60 KB. */
const ENTRIES_MAX = 200;
const TIMEOUT_MS = 3_000;
const REV = 'rv';
const ENTRIES = 'en';

export function dynamoRequeueLists({ table, instance }: InstanceTable) {
  const keys = ledgerKeys(instance);
  const timed = timedTable(table, TIMEOUT_MS);
  const what = 'a list of retries';
  return {
    async read(groupId: number): Promise<RequeueList> {
      const item = await readItem(timed, what, keys.requeueList(groupId));
      const entries = JSON.parse(item?.[ENTRIES]?.S ?? '[]') as readonly RequeueEntry[];
      return { groupId, entries, rev: Number(item?.[REV]?.N ?? 0) };
    },
    /** @returns the new list; undefined: a concurrent write. @throws {LedgerError} `ledger_unavailable` */
    async write(list: RequeueList): Promise<RequeueList | undefined> {
      const sorted = list.entries.toSorted((a, b) => a.rejectedAtMs - b.rejectedAtMs || a.jobId - b.jobId);
      const entries = sorted.slice(-ENTRIES_MAX);
      const rev = list.rev + 1;
      const item = itemAt(keys.requeueList(list.groupId), {
        [REV]: { N: String(rev) },
        [ENTRIES]: { S: JSON.stringify(entries) },
      });
      const isWritten = await writeItem(timed, what, item, atRev(REV, list.rev));
      return isWritten ? { ...list, entries, rev } : undefined;
    },
  };
}

/** Undefined unless only in-flight limits rejected the job. */
export function toRequeueEntry(
  record: JobRecord,
  before: readonly RequeueEntry[],
  settings: RequeueSettings,
): RequeueEntry | undefined {
  const { jobId, facts, decidedAtMs } = record;
  if (!lacksRoomAlone(record) || facts.projectId === undefined || facts.rootId === undefined)
    return undefined;
  const former = before.find(({ newJobId }) => newJobId === jobId);
  const retries = former?.retries ?? 0;
  const entry: RequeueEntry = {
    ...{ jobId, projectId: facts.projectId, root: facts.rootId, rejectedAtMs: decidedAtMs },
    ...{ firstAtMs: former?.firstAtMs ?? decidedAtMs, retries, state: 'waiting' },
  };
  return retries < settings.retries
    ? entry
    : { ...entry, state: 'over', why: `it was retried ${retries} of ${settings.retries} times` };
}

/** A job that ran all the same has nothing to wait for. */
const lacksRoomAlone = ({ state, answered, flagged, unchecked, violations }: JobRecord): boolean =>
  state === 'REJECTED' &&
  answered === 'ledger' &&
  !flagged &&
  unchecked === undefined &&
  missingRoom(violations) !== undefined;

/** By the rules of now. Records keep no values of variables: CPU and memory are those that the rejection names. */
export function retryClaims(
  { jobId, facts, violations }: JobRecord,
  rules: EvaluationContext,
): readonly LimitClaim[] {
  const missing = new Map(missingRoom(violations)?.map((reason) => [reason.unit, reason.asked]));
  const request = requestOfRecord(jobId, facts, facts.asked ?? {});
  const variables: Record<string, string> = {};
  for (const unit of ALL_UNITS) {
    const { kind, requested } = unitRow(unit);
    const amount = missing.get(unit);
    if (requested !== undefined && amount !== undefined)
      variables[resourceVariableName('build', requested, 'request')] = writtenUnits(amount, kind);
  }
  return evaluate({ ...request, variables }, rules)
    .claims.filter(({ unit }) => isInFlight(unit))
    .map((claim) => ({
      ...claim,
      // A class may cap what one container requests, and the job may have more than one.
      amount: missing.get(claim.unit) ?? claim.amount,
      refusal: (seen) => claim.refusal(seen),
    }));
}
