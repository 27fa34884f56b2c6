/** Which rejected jobs may be retried at all, and what they need room for. Pure. */

import type { LimitClaim } from '../../../policies/claim.ts';
import { type EvaluationContext, evaluate } from '../../../policies/evaluate.ts';
import { resourceVariableName } from '../../../policies/kubernetes/resource-variables.ts';
import type { RequeueSettings } from '../../../policies/policy.ts';
import { requestOfRecord } from '../../../policies/request/recorded.ts';
import { missingRoom } from '../../../policies/requeue.ts';
import { isInFlight } from '../../../policies/units/unit.ts';
import type { JobRecord } from '../ledger/index.ts';
import type { RequeueEntry } from './requeue-list.ts';

/**
 * Returns an entry for a job rejected only by in-flight limits; undefined for others.
 *
 * @param before - entries of the group; one may have been retried as this job.
 */
export function requeueEntryOf(
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

/**
 * The claims of the retried job on amounts that are given back, by the rules of now. Records keep no values of variables:
 * CPU and memory are those that the rejection names.
 */
export function retryClaims(
  { jobId, facts, violations }: JobRecord,
  rules: EvaluationContext,
): readonly LimitClaim[] {
  const asked = new Map(missingRoom(violations)?.map((reason) => [reason.unit, reason.asked]));
  const request = requestOfRecord(jobId, facts, facts.asked ?? {});
  const [millicpu, bytes] = [asked.get('millicpu'), asked.get('bytes')];
  const variables = {
    ...(millicpu !== undefined && { [resourceVariableName('build', 'cpu', 'request')]: `${millicpu}m` }),
    ...(bytes !== undefined && { [resourceVariableName('build', 'memory', 'request')]: `${bytes}` }),
  };
  return evaluate({ ...request, variables }, rules)
    .claims.filter(({ unit }) => isInFlight(unit))
    .map((claim) => ({
      ...claim,
      // A class may cap what one container requests, and the job may have more than one.
      amount: asked.get(claim.unit) ?? claim.amount,
      refusal: (seen) => claim.refusal(seen),
    }));
}
