import {
  type ChangeRow,
  type ChangeRowsInput,
  changeRows,
  limitsByPlace,
} from '../../../../functions/core/limits/index.ts';
import type { PolicyChange } from './change.ts';
import { grantText, limitDifferenceText, thingText } from './limit-change-text.ts';

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
