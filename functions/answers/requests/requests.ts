import { counterOf, limitsOn } from '../../../policies/limits/limits.ts';
import {
  isOwn,
  type LimitRequest,
  mayApprove,
  mayBeSame,
  type RightsContext,
  requesterOf,
} from '../../core/limits/index.ts';
import { actingUser } from '../reading/acting-user.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { subjectRow } from '../standing/subject-rows.ts';
import type { RequestRow } from './model.ts';

/** Those they filed, and those of their groups, with the limits they are about. @throws {LimitsError} @throws {LedgerError} */
export const requestRows =
  (reading: ReadContext) =>
  async (viewer: Viewer): Promise<readonly RequestRow[]> => {
    const by = actingUser(viewer);
    const [all, { limits }, places = NOWHERE] = await Promise.all([
      reading.desk.requests(by),
      reading.limits(),
      reading.places(),
    ]);
    const { directory } = places;
    const nowMs = reading.clock.nowMs();
    const scope = scopeOf(viewer.roles, directory);
    const shown = all.filter((request) => isOwn(request, by) || scope.sees(request.subject));
    const limitOf = ({ subject, limit }: LimitRequest) =>
      scope.sees(subject) ? limitsOn(limits, subject).find(({ id }) => id === limit) : undefined;
    const keys = shown.flatMap((request) => {
      const limit = limitOf(request);
      return limit === undefined ? [] : [counterOf(limit, nowMs)];
    });
    const counters = await reading.counters.fresh(keys);
    return shown.map((request) => {
      const limit = limitOf(request);
      const { policy } = reading;
      return {
        ...request,
        path: subjectLabelOf(request.subject, directory),
        ...(limit !== undefined && {
          limitNow: subjectRow(
            { limit, byDefault: false },
            { limits, directory, policy, counters, usage: [], nowMs },
          ),
        }),
        mayDecide: mayDecide(request, by, { limits, directory, nowMs }),
        own: mayBeSame(requesterOf(request), by),
      };
    });
  };

/**
 * Number of requests that the viewer may decide. Reads no counters, because it is on every page. @throws
 * {LimitsError}
 */
export const waitingOf =
  (reading: ReadContext) =>
  async (viewer: Viewer): Promise<number> => {
    const by = actingUser(viewer);
    const [all, { limits }, { directory } = NOWHERE] = await Promise.all([
      reading.desk.requests(by),
      reading.limits(),
      reading.places(),
    ]);
    const context = { limits, directory, nowMs: reading.clock.nowMs() };
    return all.filter((request) => mayDecide(request, by, context)).length;
  };

function mayDecide(
  request: LimitRequest,
  by: ReturnType<typeof actingUser>,
  context: RightsContext,
): boolean {
  const { state, expiresAtMs } = request;
  if (state !== 'pending' || context.nowMs >= expiresAtMs || mayBeSame(requesterOf(request), by))
    return false;
  return mayApprove(request, by.rights, context);
}
