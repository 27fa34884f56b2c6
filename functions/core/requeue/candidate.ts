/** Which rejected jobs may be retried at all. Pure. */

import type { RequeueSettings } from '../../../policies/policy.ts';
import type { Violation } from '../../../policies/reason.ts';
import { missingRoom, type RoomReason } from '../../../policies/requeue.ts';
import type { JobRecord } from '../ledger/index.ts';
import type { RequeueEntry, TakenAmount } from './requeue-list.ts';

/** What a limit is counted by that has no periods. */
const NO_PERIOD = 'now';
const LENT_OUT_MS = 5 * 60_000;

/**
 * An entry for a job that was rejected for nothing but what is counted at once; undefined for any other.
 * @param before - entries of the group, of which one may have been retried as this job.
 */
export function requeueEntryOf(
  record: JobRecord,
  before: readonly RequeueEntry[],
  settings: RequeueSettings,
): RequeueEntry | undefined {
  const { jobId, facts, decidedAtMs } = record;
  const wants = wantsOf(record);
  if (wants === undefined || facts.projectId === undefined || facts.rootId === undefined) return undefined;
  const former = before.find(({ newJobId }) => newJobId === jobId);
  const retries = former?.retries ?? 0;
  const entry: RequeueEntry = {
    ...{ jobId, projectId: facts.projectId, root: facts.rootId, rejectedAtMs: decidedAtMs },
    ...{ firstAtMs: former?.firstAtMs ?? decidedAtMs, retries, state: 'waiting', wants },
    ...(record.violations.some(isLentOut) && { againAtMs: decidedAtMs + LENT_OUT_MS }),
  };
  return retries < settings.retries
    ? entry
    : { ...entry, state: 'over', why: `it was retried ${retries} of ${settings.retries} times` };
}

/** The limit itself has room, and others of the cohort use it: their jobs end within some time, and the limit does not tell when. */
const isLentOut = ({ reason }: Violation): boolean => 'lentOut' in reason;

function wantsOf({
  state,
  answered,
  flagged,
  unchecked,
  violations,
}: JobRecord): readonly TakenAmount[] | undefined {
  // A job that ran all the same has nothing to wait for.
  if (state !== 'REJECTED' || answered !== 'ledger' || flagged || unchecked !== undefined) return undefined;
  return missingRoom(violations)?.map(wantOf);
}

function wantOf(reason: RoomReason): TakenAmount {
  const { subject, limit, asked, limitAmount, borrow = 0 } = reason;
  return { counter: { subject, limit, period: NO_PERIOD }, asked, limitAmount: limitAmount + borrow };
}
