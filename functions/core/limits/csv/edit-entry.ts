/** The cells of a row on a limit: what they do not change stays as it was written, to the last digit. */

import { placeOfSubject } from '../../../../policies/limits/cap.ts';
import { type Directory, pathKey } from '../../../../policies/place/directory.ts';
import { LIMIT_KINDS, type LimitKind } from '../../../../policies/units/unit.ts';
import { SUBJECTS_EXPECTED } from '../desk/subject-text.ts';
import { type Cells, type CsvColumn, isDecimal } from './columns.ts';
import { entryPlaceOf, pathOf } from './export-limits.ts';
import {
  type CellContext,
  cellsOf,
  KEY_OF,
  kindOf,
  type LimitEntry,
  madeId,
  readCells,
} from './read-cells.ts';
import { readThresholdsText } from './thresholds-text.ts';

export type CellRefusal = CellContext['refuse'];

/**
 * @param entry - the limit as it is, or where a new one begins (`on`); `cells` of it.
 * @param cells - as they stand in the file. Columns the file does not have change nothing, empty cells take out.
 * @returns undefined after at least one `refuse`.
 */
export function edited(
  entry: LimitEntry,
  cells: Cells,
  id: string,
  reading: CellContext,
): LimitEntry | undefined {
  const { refuse } = reading;
  const before = cellsOf(entry);
  const isNew = kindOf(entry) === undefined;
  const now = readCells(cells, before, reading);
  const kind = readKind(entry, cells.unit ?? '', id, refuse);
  if (now === undefined || kind === undefined) return undefined;
  const changed: Record<string, unknown> = { ...entry };
  const set = (key: string, value: unknown): void => {
    if (value === undefined) delete changed[key];
    else changed[key] = value;
  };
  const differs = (column: CsvColumn): boolean =>
    now[column] !== undefined && !isSame(column, before[column] ?? '', now[column]);
  if (now.limit === '')
    return refuse('limit', "is empty; write a number, 0 to block or 'unlimited', or take the whole row out");
  if (differs('limit')) set(kind, now.limit);
  for (const [column, key] of Object.entries(KEY_OF) as [keyof typeof KEY_OF, string][])
    if (differs(column)) set(key, now[column] || undefined);
  if (differs('carry')) set('carry', now.carry === '' ? undefined : { max: now.carry });
  if (differs('thresholds')) set('thresholds', readThresholdsText(now.thresholds ?? ''));
  if (differs('soft') || differs('soft_pct')) {
    const soft = readSoft(now, differs('soft_pct'), refuse);
    if (soft === undefined) return undefined;
    set('soft', soft || undefined);
  }
  if (id === madeId(kind, String(changed.per ?? '')) || changed.id !== undefined) return changed;
  if (isNew) return { ...changed, id };
  return refuse(
    'period',
    `'${now.period}', but ${id} is named by its period; leave limit_id empty to make another limit, and take this one out`,
  );
}

function readKind(entry: LimitEntry, unit: string, id: string, refuse: CellRefusal): LimitKind | undefined {
  const kind = LIMIT_KINDS.find((each) => each === unit);
  if (kind === undefined)
    return refuse('unit', `${unit === '' ? 'is empty' : `'${unit}'`}; expected ${LIMIT_KINDS.join(', ')}`);
  const was = kindOf(entry);
  if (was === undefined || was === kind) return kind;
  return refuse(
    'unit',
    `'${kind}', but ${id} counts ${was}; leave limit_id empty to make another limit of it`,
  );
}

/** '' takes it out. */
function readSoft(now: Cells, shareDiffers: boolean, refuse: CellRefusal): string | undefined {
  const amount = now.soft ?? '';
  // If the file lacks one of the columns, the other decides.
  const share = now.soft_pct ?? '';
  if (amount !== '' && share !== '')
    return refuse(
      shareDiffers ? 'soft_pct' : 'soft',
      `soft_pct is ${share} and soft is ${amount}; leave one of them empty`,
    );
  return share === '' ? amount : `${share.replace(/%$/, '')}%`;
}

/** Spreadsheets save 7.50 as 7.5, and breaks within cells as they like. */
function isSame(column: CsvColumn, before: string, now: string): boolean {
  if (before === now) return true;
  return isDecimal(column) ? number(before) === number(now) : lines(before) === lines(now);
}

const DECIMAL = /^0*(\d+)(?:\.(\d+?)0*)?(%?|[A-Za-z]*)$/;

function number(text: string): string {
  const [, whole, fraction = '', unit = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return text;
  return /^0*$/.test(fraction) ? `${whole}${unit}` : `${whole}.${fraction}${unit}`;
}

const lines = (text: string): string => text.replace(/\r\n?/g, '\n');

/**
 * Finds the subject of a row. Ids decide and paths are labels: an unused path belonged to a group that was
 * renamed after the export. A path of another group is an error.
 */
export function subjectOfRow(
  cells: Cells,
  directory: Directory | undefined,
  refuse: CellRefusal,
): string | undefined {
  const { subject = '', group_id: id = '', group_path: path = '' } = cells;
  if (id !== '' && !/^[1-9]\d{0,14}$/.test(id))
    return refuse('group_id', `'${id}'; expected GitLab's id of the group`);
  if (subject !== '' && entryPlaceOf(subject) === undefined)
    return refuse('subject', `'${subject}'; expected ${SUBJECTS_EXPECTED}`);
  if (subject !== '' && id !== '' && subject !== `group/${id}`)
    return refuse('subject', `'${subject}', but group_id is ${id}; leave one of them empty`);
  const named = subject === '' && id !== '' ? `group/${id}` : subject;
  if (named === '') return path === '' ? refuse('group_id', 'is empty; expected whose limit it is') : found();
  if (path !== '' && isOthers(named)) return undefined;
  return named;

  function found(): string | undefined {
    if (directory === undefined)
      return refuse('group_path', `'${path}': paths are not known here; give group_id`);
    const group = directory.groupByPath.get(pathKey(path));
    if (group !== undefined) return `group/${group.id}`;
    return refuse('group_path', `'${path}': no group has this path; correct it, or give group_id`);
  }

  function isOthers(name: string): boolean {
    if (!/^(?:group|project)\//.test(name)) {
      refuse('group_path', `'${path}', but subject is ${name}; leave one of them empty`);
      return true;
    }
    const place = placeOfSubject(name);
    const byPath = name.startsWith('group/') ? directory?.groupByPath : directory?.projectByPath;
    const other = byPath?.get(pathKey(path));
    if (other === undefined || `${name.split('/')[0]}/${other.id}` === place) return false;
    const own = pathOf(name, directory);
    const is = own === undefined ? '' : `, which is ${own}`;
    refuse('group_path', `'${path}' is ${name.split('/')[0]}/${other.id}, but the row is about ${name}${is}`);
    return true;
  }
}
