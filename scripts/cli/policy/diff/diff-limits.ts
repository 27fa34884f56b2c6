import { type ChangeRowsInput, changeRows } from '../../../../functions/core/limits/change-rows.ts';
import type { ChangeRow, FieldValue } from '../../../../functions/core/limits/limit-changes.ts';
import { unitRow, writtenUnits } from '../../../../policies/unit.ts';
import { moneyText } from '../../../../policies/unit-texts.ts';
import { type PolicyChange, valueText } from './values.ts';

/** Everything that differs between two sets of limits: limits, grants, freezes, break-glasses, defaults and rollouts. */
export function limitChanges(between: ChangeRowsInput): readonly PolicyChange[] {
  const lines: [ChangeRow, ...ChangeRow[]][] = [];
  for (const row of changeRows(between)) {
    const last = lines.at(-1);
    if (last !== undefined && belongs(row, last)) last.push(row);
    else lines.push([row]);
  }
  return lines.map((line) => {
    const [row] = line;
    const at = [SECTION[row.about], row.subject, row.limit, row.id].filter((part) => part).join('.');
    if (row.whole === undefined)
      return {
        at: `${at}.${row.field}`,
        what: `${textOf(row.from, row)} → ${textOf(row.to, row)}`,
        effect: row.effect,
      };
    const fields = line.map((each) => `${each.field} ${textOf(each.to ?? each.from, each)}`).join(', ');
    const effect = line.find((each) => each.effect !== 'neutral')?.effect ?? 'neutral';
    return { at, what: `${row.whole} (${fields})`, effect };
  });
}

/** As limits.yaml has them. */
const SECTION: Readonly<Record<ChangeRow['about'], string>> = {
  limit: 'limits',
  grant: 'grants',
  freeze: 'freezes',
  breakglass: 'breakglass',
  rollout: 'rollout',
  document: '',
};

/** A whole new or removed entry is one line. Of grants without an id, a field that is there already begins the next. */
const belongs = (row: ChangeRow, line: readonly [ChangeRow, ...ChangeRow[]]): boolean =>
  row.whole !== undefined &&
  nameOf(row) === nameOf(line[0]) &&
  line.every(({ field }) => field !== row.field);

const nameOf = ({ whole, about, subject, limit, id }: ChangeRow): string =>
  JSON.stringify([whole, about, subject, limit, id]);

/** An amount as limits.yaml would have it: `500.00`, `30 minutes`, `20 jobs`, `2500m cpu`, `1Gi memory`. */
function textOf(value: FieldValue, { unit }: ChangeRow): string {
  if (typeof value !== 'number' || unit === undefined) return valueText(value);
  const { inCurrency, kind } = unitRow(unit);
  return inCurrency ? moneyText(value) : `${writtenUnits(value, kind)} ${kind}`;
}
