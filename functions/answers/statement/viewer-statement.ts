import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { StatementAnswer, StatementQuery } from './model.ts';
import { statementOf, statementPlan } from './statement.ts';

/** Who started jobs is for those who see everything: others are answered without. @throws {LedgerError} */
export const viewerStatement =
  (reading: ReadContext) =>
  async (asked: StatementQuery, viewer: Viewer): Promise<StatementAnswer> => {
    const [{ limits }, { directory } = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const scope = scopeOf(viewer.roles, directory);
    const { books, policy, zone, clock } = reading;
    const plan = statementPlan(
      { ...asked, withUsers: asked.withUsers === true && scope.seesAll },
      { limits, directory, currency: policy.currency, nowMs: clock.nowMs(), zone },
    );
    if (plan.outcome === 'unreadable') return plan;
    const sees = scope.seesAll || (plan.billed.subject !== undefined && scope.sees(plan.billed.subject));
    return sees && books !== undefined ? statementOf(plan, books) : { outcome: 'unknown_group' };
  };
