import {
  type ChangeRowsInput,
  changeRows,
  limitsByPlace,
} from '../../../../functions/core/limits/change-rows.ts';
import type { ChangeRow, FieldValue } from '../../../../functions/core/limits/limit-changes.ts';
import { edgeText } from '../../../../policies/text/edge-text.ts';
import { type Unit, unitRow, writtenUnits } from '../../../../policies/unit.ts';
import { moneyText } from '../../../../policies/unit-texts.ts';
import { leafText, type PolicyChange, valueText } from './values.ts';

/** Everything that differs between two sets of limits: limits, grants, freezes, break-glasses, defaults and rollouts. */
export const limitChanges = (between: ChangeRowsInput): readonly PolicyChange[] =>
  together(changeRows(between)).map((line) => changeOf(line, between));

/** Rows of one line: a whole new or removed entry, else one field. */
type Line = readonly [ChangeRow, ...ChangeRow[]];

function together(rows: readonly ChangeRow[]): readonly Line[] {
  const lines: [ChangeRow, ...ChangeRow[]][] = [];
  for (const row of rows) {
    const last = lines.at(-1);
    if (last !== undefined && belongs(row, last)) last.push(row);
    else lines.push([row]);
  }
  return lines;
}

/** Several grants without an id may follow each other on one limit: a field that is there already begins the next. */
const belongs = (row: ChangeRow, line: Line): boolean =>
  row.whole !== undefined &&
  nameOf(row) === nameOf(line[0]) &&
  line.every(({ field }) => field !== row.field);

const nameOf = ({ whole, about, subject, limit, id }: ChangeRow): string =>
  JSON.stringify([whole, about, subject, limit, id]);

function changeOf(line: Line, between: ChangeRowsInput): PolicyChange {
  const [row] = line;
  const { whole } = row;
  if (whole === undefined)
    return { at: `${placeOf(row)}.${fieldName(row)}`, what: limitDifferenceText(row), effect: row.effect };
  const effect = line.find((each) => each.effect !== 'neutral')?.effect ?? 'neutral';
  if (row.about === 'grant') {
    const told = grantText(line, zoneOf(row, between), between.nowMs);
    return { at: placeOf(row), what: `${whole === 'added' ? '+' : '-'} ${told}`, effect };
  }
  return { at: placeOf(row), what: `${whole} (${thingText(line)})`, effect };
}

/** Place in limits.yaml, by name instead of index. */
function placeOf({ about, subject, limit, id }: ChangeRow): string {
  switch (about) {
    case 'limit':
      return limitPlace(subject, limit);
    case 'grant':
      return `${limitPlace(subject, limit)}.grants${id === undefined ? '' : `[${id}]`}`;
    case 'freeze':
      return `freezes.${subject}.${limit}`;
    case 'breakglass':
      return `breakglass.${subject}.${limit}`;
    case 'rollout':
      return `rollout.${subject.replace('group/', '')}`;
    case 'document':
      return limit;
  }
}

const PATTERN = 'groups/';

function limitPlace(subject: string, limit: string): string {
  if (subject === 'personal') return `personal_default.${limit}`;
  if (subject.startsWith(PATTERN)) return `group_defaults[${subject.slice(PATTERN.length)}].${limit}`;
  return `limits.${subject}.${limit}`;
}

/** As limits.yaml spells them. */
function fieldName({ about, field, limit }: ChangeRow): string {
  if (about === 'rollout') return limit === 'report' ? 'reported' : limit;
  return about === 'limit' && field === 'carry' ? 'carry.max' : field;
}

/** Grants use their limit's zone. */
function zoneOf({ subject, limit }: ChangeRow, { from, to }: ChangeRowsInput): string {
  for (const set of [to, from]) {
    const found = limitsByPlace(set)
      .get(subject)
      ?.find(({ id }) => id === limit);
    if (found !== undefined) return found.zone;
  }
  return 'UTC';
}

/** `7.50 → 8.00`, `absent → warn`; thresholds show what came (+) and went (-). */
function limitDifferenceText(row: ChangeRow): string {
  if (row.field === 'thresholds') return leafText({ path: [], from: listOf(row.from), to: listOf(row.to) });
  return `${textOf(row.from, row)} → ${textOf(row.to, row)}`;
}

/** All of a thing that came or went: `7.50, per month, owner leads`. Its amount needs no name, nor does the usual mode. */
const thingText = (rows: readonly ChangeRow[]): string =>
  rows
    .map((row) => ({ row, value: valueIn(row) }))
    .filter(({ row, value }) => row.field !== 'mode' || value !== 'enforce')
    .map(({ row, value }) =>
      row.field === 'amount' ? textOf(value, row) : `${row.field} ${textOf(value, row)}`,
    )
    .join(', ');

/** `50.00 from 1 Nov 2026 to the end of 30 Nov 2026 Europe/Berlin: release week, FIN-12`. */
function grantText(rows: readonly ChangeRow[], zone: string, nowMs: number): string {
  const byField = new Map(rows.map((row) => [row.field, textOf(valueIn(row), row)]));
  const said = (field: string): string => byField.get(field) ?? '';
  const [fromMs, untilMs] = [Date.parse(said('from')), Date.parse(said('until'))];
  const from = edgeText(fromMs, 'start', zone).slice(0, -(zone.length + 1));
  const why = ['reason', 'ticket'].map(said).filter((text) => text !== '');
  const over = untilMs <= nowMs ? ' (is over)' : '';
  return `${said('amount')} from ${from} to ${edgeText(untilMs, 'end', zone)}: ${why.join(', ')}${over}`;
}

const valueIn = ({ from, to }: ChangeRow): FieldValue => to ?? from;

const textOf = (value: FieldValue, { unit }: ChangeRow): string =>
  typeof value === 'number' && unit !== undefined ? amountWritten(value, unit) : valueText(value);

/** `[50, 75]` → 50 and 75. */
function listOf(value: FieldValue): readonly string[] | undefined {
  if (value === null) return undefined;
  const inside = String(value).slice(1, -1);
  return inside === '' ? [] : inside.split(', ');
}

/** An amount as limits.yaml would have it: `500.00`, `30 minutes`, `20 jobs`, `2500m cpu`, `1Gi memory`. */
function amountWritten(amount: number, unit: Unit): string {
  const { inCurrency, kind } = unitRow(unit);
  return inCurrency ? moneyText(amount) : `${writtenUnits(amount, kind)} ${kind}`;
}
