import type { BudgetRow } from '../../../functions/answers/limits/budgets-model.ts';
import { refusingText } from '../../../functions/answers/status/texts.ts';
import { writtenDay } from '../../../policies/text/edge-text.ts';
import { isMoney } from '../../../policies/unit.ts';
import { amountText, bareAmountText } from '../../../policies/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { amounts, right, table } from '../../terminal/table.ts';

/** As a command line names it: only groups and projects by their path. */
export const standingPath = ({ subject, path }: Pick<BudgetRow, 'subject' | 'path'>): string =>
  /^(group|project)\//.test(subject) ? path : subject;

const modeOf = ({ mode, rolledOutAs }: BudgetRow): BudgetRow['mode'] => rolledOutAs ?? mode;

/** A row of `--json`. Amounts are whole units. */
export const limitStandingJson = (row: BudgetRow): object => ({
  subject: row.subject,
  path: standingPath(row),
  limit: row.id,
  kind: row.kind,
  unit: row.unit,
  amount: row.amount,
  per: row.per ?? null,
  // In force for jobs of the subject: the policy and the rollout may make it milder than it was written.
  mode: modeOf(row),
  ...(row.each !== undefined && { each: row.each }),
  used: row.settled ?? null,
  held: row.held ?? null,
  left: row.left ?? null,
  percent: row.percent ?? null,
  runsOut: runsOutOf(row),
  ...(row.refusing !== undefined && { refusing: row.refusing }),
  owner: row.owner ?? null,
  thresholds: row.thresholds ?? [],
  told: row.addressee,
  ...(row.alerts !== undefined && { alerts: row.alerts }),
  ...(row.shared !== undefined && { cohort: row.cohort, borrowed: row.borrowed, shared: row.shared }),
});

export function forecastJson({ forecast }: BudgetRow): object | null {
  if (forecast === undefined) return null;
  const { atEndAmount, atEndLow, atEndHigh, tested } = forecast;
  return {
    atEnd: atEndAmount ?? null,
    low: atEndLow ?? null,
    high: atEndHigh ?? null,
    tested: tested ?? null,
  };
}

const runsOutOf = ({ forecast }: BudgetRow): string | null =>
  forecast?.atMs === undefined ? (forecast?.outcome ?? null) : new Date(forecast.atMs).toISOString();

const TITLES = [
  'group',
  ...['limit', 'used', 'held', 'left'].map(amounts),
  ...[right('%'), 'runs out', 'owner'],
];

export const standingsText = (
  shown: readonly BudgetRow[],
  { currency, nowMs, columns, paint }: { currency: string; nowMs: number; columns: number; paint: Paint },
): string =>
  table(
    TITLES,
    shown.map((each) => [printable(standingPath(each)), ...cellsOf(each, currency, nowMs, paint)]),
    columns,
    paint.dim,
  );

function cellsOf(row: BudgetRow, currency: string, nowMs: number, paint: Paint): readonly string[] {
  const { unit, settled, held, left, percent, owner, each } = row;
  const bare = (amount: number): string => bareAmountText(amount, unit);
  return [
    limitText(row, currency),
    settled !== undefined ? bare(settled) : each === undefined ? 'not counted' : '',
    held === undefined ? '' : bare(held),
    left === undefined ? '' : left < 0 ? paint.bad(bare(left)) : bare(left),
    percent === undefined ? '' : percentText(percent, paint),
    row.canRunOut && left !== undefined ? forecastText(row, nowMs, paint) : '',
    printable(owner ?? ''),
  ];
}

const percentText = (percent: number, paint: Paint): string =>
  percent >= 100 ? paint.bad(`${percent}`) : percent >= 80 ? paint.warn(`${percent}`) : `${percent}`;

/** `500.00 EUR/month`, `unlimited EUR/month`, `20 jobs`; a limit that does not reject says so. */
export function limitText(row: BudgetRow, currency: string): string {
  const { amount, unit, kind, per } = row;
  const mode = modeOf(row);
  const written =
    amount === 'unlimited'
      ? `unlimited ${isMoney(kind) ? currency : kind}`
      : amountText(amount, unit, currency);
  return `${written}${per === undefined ? '' : `/${per}`}${mode === 'enforce' ? '' : ` (${mode})`}`;
}

function forecastText(row: BudgetRow, nowMs: number, paint: Paint): string {
  const { forecast, zone } = row;
  const refusing = refusingText(row, nowMs);
  if (refusing !== undefined) return paint.bad(refusing);
  if (forecast === undefined) return '?';
  if (forecast.outcome === 'lasts') return paint.good('lasts');
  if (forecast.atMs === undefined) return paint.bad('used up');
  return paint.warn(writtenDay(forecast.atMs, zone));
}
