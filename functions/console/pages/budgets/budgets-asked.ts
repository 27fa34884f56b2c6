/** Converts between the list's address and its query. */
import { LIMIT_KINDS } from '../../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import {
  BUDGET_ORDERS,
  type BudgetsQuery,
  RISK_FILTERS,
  SUBJECT_KINDS,
} from '../../../answers/limits/budgets-model.ts';
import { readWholeNumber } from '../asked.ts';

/** A line is about one and a half kilobytes: a page stays below 100 KB. */
const ROWS = 50;
const PERCENT_MAX = 1_000;

/** @param text - of a name in the address; undefined where it is not there or empty */
export function budgetsAsked(text: (name: string) => string | undefined): BudgetsQuery {
  const one = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
    values.find((value) => value === text(name));
  const over = readWholeNumber(text('over'));
  return {
    ...withoutAbsent({
      search: text('q'),
      kind: one('kind', SUBJECT_KINDS),
      unit: one('unit', LIMIT_KINDS),
      trouble: one('trouble', RISK_FILTERS),
      percentMin: over === undefined ? undefined : Math.min(over, PERCENT_MAX),
      cursor: text('cursor'),
    }),
    sort: one('sort', BUDGET_ORDERS) ?? 'trouble',
    caps: true,
    max: ROWS,
  };
}

/** Canonical address of a query; its first page. */
export const askedWords = ({ search, kind, unit, trouble, percentMin, sort }: BudgetsQuery) => ({
  q: search,
  kind,
  unit,
  trouble,
  over: percentMin,
  sort: sort === 'trouble' ? undefined : sort,
});
