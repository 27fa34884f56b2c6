/** Imports rows of a CSV file into the limits document. What a row does not change stays as written, to the last digit. */

import { isDeepStrictEqual } from 'node:util';
import { type Directory, pathKey } from '../../../../policies/directory.ts';
import { parseLimits } from '../../../../policies/document/parse-limits.ts';
import { type DocumentProblem, problemText } from '../../../../policies/document/reading.ts';
import { readWrittenDay } from '../../../../policies/document/written.ts';
import { placeOfSubject } from '../../../../policies/limits/cap.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { Policy } from '../../../../policies/policy.ts';
import { LIMIT_KINDS } from '../../../../policies/unit.ts';
import type { LimitsDocument } from '../limit-set.ts';
import { kindOf, type LimitList, madeId, SUBJECTS_EXPECTED, writtenField } from '../subject-text.ts';
import {
  type Cells,
  type CsvColumn,
  type CsvDialect,
  type CsvProblem,
  FIELD_OF,
  PROBLEMS_MAX,
  type UnderstoodCell,
} from './columns.ts';
import { entryKey, entryPlaceOf, LISTS, type PlacedEntry, placedEntries } from './export-limits.ts';
import { FromDay, notFrom } from './from-day.ts';
import {
  type CellContext,
  cellsOf,
  isSame,
  type LimitEntry,
  readCells,
  readThresholdsText,
} from './read-cells.ts';
import type { CsvRow } from './read-rows.ts';

type CellRefusal = CellContext['refuse'];

/**
 * @param entry - the limit as it is, or where a new one begins (`on`); `cells` of it.
 * @param cells - as they stand in the file. Columns the file does not have change nothing, empty cells take out.
 * @returns undefined after at least one `refuse`.
 */
function edited(entry: LimitEntry, cells: Cells, id: string, reading: CellContext): LimitEntry | undefined {
  const { refuse } = reading;
  const before = cellsOf(entry);
  const was = kindOf(entry);
  const now = readCells(cells, before, reading);
  const kind = LIMIT_KINDS.find((each) => each === cells.unit);
  if (kind === undefined)
    return refuse(
      'unit',
      `${cells.unit ? `'${cells.unit}'` : 'is empty'}; expected ${LIMIT_KINDS.join(', ')}`,
    );
  if (was !== undefined && was !== kind)
    return refuse(
      'unit',
      `'${kind}', but ${id} counts ${was}; leave limit_id empty to make another limit of it`,
    );
  if (now === undefined) return undefined;
  if (now.limit === '')
    return refuse('limit', "is empty; write a number, 0 to block or 'unlimited', or take the whole row out");
  const changed: Record<string, unknown> = { ...entry };
  const set = (key: string, value: unknown): void => {
    if (value === undefined) delete changed[key];
    else changed[key] = value;
  };
  const differs = (column: CsvColumn): boolean =>
    now[column] !== undefined && !isSame(column, before[column] ?? '', now[column]);
  if (differs('limit')) set(kind, now.limit);
  for (const [column, name] of FIELD_OF) {
    const cell = now[column] ?? '';
    const value = name === 'thresholds' ? readThresholdsText(cell) : cell || undefined;
    if (name !== 'soft' && differs(column)) set(name, writtenField(name, value));
  }
  if (differs('soft') || differs('soft_pct')) {
    // If the file lacks one of the columns, the other decides.
    const { soft = '', soft_pct: share = '' } = now;
    if (soft !== '' && share !== '')
      return refuse('soft_pct', `soft_pct is ${share} and soft is ${soft}; leave one of them empty`);
    set('soft', (share === '' ? soft : `${share.replace(/%$/, '')}%`) || undefined);
  }
  if (id === madeId(kind, String(changed.per ?? '')) || changed.id !== undefined) return changed;
  if (was === undefined) return { ...changed, id };
  return refuse(
    'period',
    `'${now.period}', but ${id} is named by its period; leave limit_id empty to make another limit, and take this one out`,
  );
}

/**
 * Finds the subject of a row. Ids decide and paths are labels: an unused path belonged to a group that was
 * renamed after the export. A path of another group is an error.
 */
function subjectOfRow(
  { subject = '', group_id: id = '', group_path: path = '' }: Cells,
  directory: Directory | undefined,
  refuse: CellRefusal,
): string | undefined {
  if (id !== '' && !/^[1-9]\d{0,14}$/.test(id))
    return refuse('group_id', `'${id}'; expected GitLab's id of the group`);
  const named = subject === '' && id !== '' ? `group/${id}` : subject;
  if (named !== '' && entryPlaceOf(named) === undefined)
    return refuse('subject', `'${subject}'; expected ${SUBJECTS_EXPECTED}`);
  if (id !== '' && named !== `group/${id}`)
    return refuse('subject', `'${subject}', but group_id is ${id}; leave one of them empty`);
  if (path === '') return named || refuse('group_id', 'is empty; expected whose limit it is');
  const kind = named === '' ? 'group' : (named.split('/')[0] ?? '');
  const found = (kind === 'project' ? directory?.projectByPath : directory?.groupByPath)?.get(pathKey(path));
  if (named === '')
    return found === undefined
      ? refuse('group_path', `'${path}': no group has this path; correct it, or give group_id`)
      : `group/${found.id}`;
  if (kind !== 'group' && kind !== 'project')
    return refuse('group_path', `'${path}', but subject is ${named}; leave one of them empty`);
  if (found === undefined || `${kind}/${found.id}` === placeOfSubject(named)) return named;
  return refuse('group_path', `'${path}' is ${kind}/${found.id}, but the row is about ${named}`);
}

interface ImportOptions {
  /** The document that the rows are edits of: that of the set they were exported from. */
  readonly document: LimitsDocument;
  readonly policy: Policy;
  readonly directory?: Directory | undefined;
  readonly dialect: CsvDialect;
  /** Takes limits out that the file does not name; without it they stay. */
  readonly prune: boolean;
  /** The first day of the imported limits, `2027-01-01` or as people write it, and the limits of `document`. @default immediately */
  readonly from?: { readonly day: string; readonly limits: LimitSet; readonly nowMs: number } | undefined;
}

type ImportOutcome =
  | { readonly ok: false; readonly problems: readonly CsvProblem[] }
  | {
      readonly ok: true;
      /** As it shall be; what the rows do not change is as it was, grants, freezes and rollouts included. */
      readonly document: LimitsDocument;
      readonly limits: LimitSet;
      /** Cells that were read as something else than what stands in them. */
      readonly understood: readonly UnderstoodCell[];
      /** Limits the file does not name: taken out with `prune`, else kept. */
      readonly unnamed: readonly { readonly subject: string; readonly limit: string }[];
    };

/** An entry of the document as it shall be, and the line it comes from. Undefined: the file does not name it. */
interface Line {
  readonly entry: LimitEntry;
  readonly line: number | undefined;
}

export function importLimits(rows: readonly CsvRow[], options: ImportOptions): ImportOutcome {
  const { document, policy, directory, prune, from } = options;
  const problems: CsvProblem[] = [];
  const understood: UnderstoodCell[] = [];
  const placed = placedEntries(document);
  const day = from && readWrittenDay(from.day);
  const why = from && (day?.ok ? notFrom(day.text, from.nowMs) : day?.message);
  if (why !== undefined) return { ok: false, problems: [{ line: 0, column: 'from', message: why }] };
  const fromDay = from && day?.ok ? new FromDay(day.text, from.limits, placed, from.nowMs) : undefined;
  const byKey = new Map(placed.map((each) => [entryKey(each.subject, each.id), each]));
  const named = new Map<PlacedEntry, readonly Line[]>();
  const added: { readonly list: LimitList; readonly line: Line }[] = [];
  const lineOf = new Map<string, number>();
  const refuseAt =
    (line: number): CellRefusal =>
    (column, message) => {
      problems.push({ line, column, message });
      return undefined;
    };
  const found = rows.flatMap(({ line, cells }) => {
    const subject = subjectOfRow(cells, directory, refuseAt(line));
    const place = subject === undefined ? undefined : entryPlaceOf(subject);
    const id = cells.limit_id || madeId(cells.unit ?? '', cells.period ?? '');
    return subject === undefined || place === undefined ? [] : [{ line, cells, subject, place, id }];
  });
  const keys = new Set(found.map(({ subject, id }) => entryKey(subject, id)));
  for (const { line, cells, subject, place, id } of found) {
    const refuse = refuseAt(line);
    const own = byKey.get(entryKey(subject, id));
    const standing = own && (fromDay?.meant(own, cells, keys) ?? own);
    const key = entryKey(subject, standing?.id ?? id);
    const first = lineOf.get(key);
    if (first !== undefined) {
      refuse('limit_id', `'${id}' of ${subject} is there twice; line ${first} has it, too`);
      continue;
    }
    lineOf.set(key, line);
    const reading: CellContext = {
      ...{ dialect: options.dialect, currency: policy.currency, refuse },
      understand: (column, written, read) => void understood.push({ line, column, written, read }),
    };
    const { valid_from: begin, ...others } = cells;
    // The day says when it begins.
    const isBegun = fromDay !== undefined && (standing !== own || begin === '');
    const entry = edited(standing?.entry ?? place.start, isBegun ? others : cells, id, reading);
    if (entry === undefined) continue;
    if (standing === undefined) {
      added.push({ list: place.list, line: { entry: fromDay?.added(entry) ?? entry, line } });
      continue;
    }
    const isSame = fromDay === undefined || isDeepStrictEqual(entry, standing.entry);
    const entries = isSame ? [entry] : (fromDay.changed(standing, entry, refuse) ?? []);
    named.set(
      standing,
      entries.map((each) => ({ entry: each, line })),
    );
  }
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, PROBLEMS_MAX) };

  const unnamedLines = (each: PlacedEntry): readonly Line[] => {
    const entry = prune ? fromDay?.ended(each) : each.entry;
    return entry === undefined ? [] : [{ entry, line: undefined }];
  };
  const lines = new Map<LimitList, readonly Line[]>(
    LISTS.map((list) => [
      list,
      [
        ...placed.flatMap((each) => (each.list === list ? (named.get(each) ?? unnamedLines(each)) : [])),
        ...added.flatMap((each) => (each.list === list ? [each.line] : [])),
      ],
    ]),
  );
  const next: Record<string, unknown> = { ...document };
  for (const [list, entries] of lines)
    if (entries.length > 0 || next[list] !== undefined) next[list] = entries.map(({ entry }) => entry);
  const parsed = parseLimits(next, '', policy, directory);
  if (!parsed.ok) return { ok: false, problems: inLines(parsed.problems, lines) };
  const unnamed = placed.filter((each) => !named.has(each));
  return {
    ...{ ok: true, document: next, limits: parsed.value, understood },
    unnamed: unnamed.map(({ subject, id }) => ({ subject, limit: id })),
  };
}

const COLUMN_OF: Readonly<Record<string, CsvColumn>> = {
  ...Object.fromEntries([...FIELD_OF].map(([column, name]) => [name, column])),
  ...Object.fromEntries(LIMIT_KINDS.map((kind) => [kind, 'limit'])),
  on: 'subject',
  groups: 'subject',
  id: 'limit_id',
  soft: 'soft_pct',
};

/** Maps problems of the document to lines of the file. */
function inLines(
  problems: readonly DocumentProblem[],
  lines: ReadonlyMap<LimitList, readonly Line[]>,
): readonly CsvProblem[] {
  // A limit that cannot be read has no grants either: that is not what is wrong.
  const ofLimits = problems.filter(({ path }) => path[0] !== 'grants');
  return (ofLimits.length === 0 ? problems : ofLimits).map((problem): CsvProblem => {
    const [step, index, key] = problem.path;
    const list = LISTS.find((each) => each === step);
    const line = list && lines.get(list)?.[Number(index)]?.line;
    if (line === undefined) return { line: 0, message: `${problemText(problem)} (of the limits as a whole)` };
    const column = COLUMN_OF[String(key)];
    return { line, message: problem.message, ...(column !== undefined && { column }) };
  });
}
