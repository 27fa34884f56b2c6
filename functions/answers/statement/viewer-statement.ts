import { CALENDAR_YEAR } from '../../../policies/limits/period.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { billedGroup } from './billed-group.ts';
import type { StatementAnswer, StatementQuery } from './model.ts';
import { statementOf } from './statement.ts';

/** Users of jobs are shown only to users who see everything. @throws {LedgerError} */
export const viewerStatement =
  (reading: ReadContext) =>
  async (asked: StatementQuery, viewer: Viewer): Promise<StatementAnswer> => {
    const [{ limits }, { directory } = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const scope = scopeOf(viewer.roles, directory);
    const { books, policy, zone, clock } = reading;
    const billed = billedGroup(asked.group, directory);
    const sees = scope.seesAll || (billed.subject !== undefined && scope.sees(billed.subject));
    if (!sees || books === undefined) return { outcome: 'unknown_group' };
    const { fiscalStart = CALENDAR_YEAR } = limits;
    const terms = { billed, directory, currency: policy.currency, fiscalStart, zone, nowMs: clock.nowMs() };
    return statementOf({ ...asked, withUsers: asked.withUsers === true && scope.seesAll }, terms, books);
  };
