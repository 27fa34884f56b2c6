/** Imports rows of a CSV file into the limits document. What a row does not change stays as written, to the last digit. */

import { isDeepStrictEqual } from 'node:util';
import { type Directory, pathKey } from '../../../../policies/directory.ts';
import { parseLimits, STORED } from '../../../../policies/document/parse-limits.ts';
import { type DocumentProblem, problemText } from '../../../../policies/document/reading.ts';
import { readWrittenDay } from '../../../../policies/document/written.ts';
import {
  calendarDay,
  DAY_MS,
  dayNumber,
  dayOfIso,
  dayStartMs,
  isoDay,
} from '../../../../policies/limits/calendar.ts';
import { placeOfSubject } from '../../../../policies/limits/cap.ts';
import { type Limit, limitLine } from '../../../../policies/limits/limit.ts';
import { type LimitSet, limitPeriod } from '../../../../policies/limits/limits.ts';
import { isValidAt } from '../../../../policies/limits/period.ts';
import type { Policy } from '../../../../policies/policy.ts';
import { LIMIT_KINDS } from '../../../../policies/unit.ts';
import { limitsByPlace } from '../change-rows.ts';
import type { LimitsDocument } from '../limit-set.ts';
import { kindOf, type LimitList, madeId, SUBJECTS_EXPECTED, writtenField } from '../subject-text.ts';
import {
  type CellContext,
  type Cells,
  type CsvColumn,
  type CsvDialect,
  type CsvProblem,
  cellsOf,
  FIELD_OF,
  isSame,
  type LimitEntry,
  PROBLEMS_MAX,
  readCells,
  readThresholdsText,
  type UnderstoodCell,
} from './columns.ts';
import { entryKey, entryPlaceOf, LISTS, type PlacedEntry, placedEntries } from './export-limits.ts';
import type { CsvRow } from './read-rows.ts';

const DAYS_AHEAD_MAX = 800;
const PERIOD_KEYS = ['per', 'zone', 'fiscal_start'] as const;

/** Why no file can be about this day; undefined: one can. @param from - `2027-01-01` */
function notFrom(from: string, nowMs: number): string | undefined {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(from) && isoDay(calendarDay(dayNumber(dayOfIso(from)))) === from;
  const ahead = isDay ? dayNumber(dayOfIso(from)) - Math.floor(nowMs / DAY_MS) : 0;
  return ahead > 0 && ahead <= DAYS_AHEAD_MAX
    ? undefined
    : `'${from}'; expected a day after today, within two years, such as 2027-01-01`;
}

type CellRefusal = CellContext['refuse'];

/** Edits of limits from a day on: each ends the day before, and another one takes over. */
function limitsFrom(day: string, limits: LimitSet, placed: readonly PlacedEntry[], nowMs: number) {
  const byKey = new Map(
    [...limitsByPlace(limits)].flatMap(([subject, all]) =>
      all.map((limit) => [entryKey(subject, limit.id), limit] as const),
    ),
  );
  const limitOf = ({ subject, id }: PlacedEntry): Limit | undefined => byKey.get(entryKey(subject, id));
  const startOf = ({ zone }: Limit): number => dayStartMs(zone, dayOfIso(day));
  const isOver = (limit: Limit): boolean => limit.untilMs !== undefined && limit.untilMs <= startOf(limit);
  /** On the day or later: nothing of it has to end before. */
  const begins = (limit: Limit): boolean => limit.fromMs !== undefined && limit.fromMs >= startOf(limit);
  const dayBefore = isoDay(calendarDay(dayNumber(dayOfIso(day)) - 1));
  /** The entry of each line that is in force on the day. */
  const onDay = new Map<string, PlacedEntry>();
  for (const each of placed) {
    const limit = limitOf(each);
    if (limit !== undefined && isValidAt(limit, startOf(limit)))
      onDay.set(entryKey(each.subject, limitLine(limit)), each);
  }
  return {
    /**
     * The limit that a row is about. A row of one that is over by that day is about the limit that took over, unless it has
     * the end of the old one, or the file has a row of each.
     */
    meant(current: PlacedEntry, { valid_until = '' }: Cells, keys: ReadonlySet<string>): PlacedEntry {
      const limit = limitOf(current);
      const until = readWrittenDay(valid_until);
      const hasEnd = until.ok && until.text === current.entry.until;
      if (limit === undefined || hasEnd || !isOver(limit)) return current;
      const then = onDay.get(entryKey(current.subject, limitLine(limit)));
      return then === undefined || keys.has(entryKey(then.subject, then.id)) ? current : then;
    },
    added: (entry: LimitEntry): LimitEntry => (entry.from === undefined ? { ...entry, from: day } : entry),
    /** A limit that the file does not name, and that goes with the day. Undefined: it never is in force. */
    ended(current: PlacedEntry): LimitEntry | undefined {
      const limit = limitOf(current);
      if (limit === undefined || isOver(limit)) return current.entry;
      return begins(limit) ? undefined : { ...current.entry, until: dayBefore };
    },
    changed(current: PlacedEntry, next: LimitEntry, refuse: CellRefusal): readonly LimitEntry[] | undefined {
      const { subject, id, entry } = current;
      const limit = limitOf(current);
      if (limit === undefined || begins(limit)) return [next];
      const name = `${id} of ${subject}`;
      if (isOver(limit))
        return refuse('limit_id', `${name} has ended before ${day}; leave its row as it was`);
      const startMs = startOf(limit);
      const period = limitPeriod(limit, startMs);
      if (period?.startMs !== startMs || startMs <= nowMs)
        return refuse(
          'period',
          `${name} has no period that begins on ${day} in ${limit.zone}, after now; leave its row as it was, and change it in a file of its own`,
        );
      if (PERIOD_KEYS.some((key) => next[key] !== entry[key]) || next.from !== entry.from)
        return refuse('period', `${name} keeps its period, zone and begin in a file from a day on`);
      return [
        { ...entry, until: dayBefore },
        { ...next, id: `${limitLine(limit)}-${day}`, from: day },
      ];
    },
  };
}

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
    const { soft = '', soft_pct: share = '' } = now;
    if (soft !== '' && share !== '')
      return refuse('soft_pct', `soft_pct is ${share} and soft is ${soft}; leave one empty`);
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
    return refuse('subject', `'${subject}', but group_id is ${id}; leave one empty`);
  if (path === '') return named || refuse('group_id', 'is empty; expected whose limit it is');
  const kind = named === '' ? 'group' : (named.split('/')[0] ?? '');
  const found = (kind === 'project' ? directory?.projectByPath : directory?.groupByPath)?.get(pathKey(path));
  if (named === '')
    return found === undefined
      ? refuse('group_path', `'${path}': no group has this path; correct it, or give group_id`)
      : `group/${found.id}`;
  if (kind !== 'group' && kind !== 'project')
    return refuse('group_path', `'${path}', but subject is ${named}; leave one empty`);
  if (found === undefined || `${kind}/${found.id}` === placeOfSubject(named)) return named;
  return refuse('group_path', `'${path}' is ${kind}/${found.id}, but the row is about ${named}`);
}

interface ImportOptions {
  readonly document: LimitsDocument;
  readonly policy: Policy;
  readonly directory?: Directory | undefined;
  readonly dialect: CsvDialect;
  /** Takes limits out that the file does not name; without it they stay. */
  readonly prune: boolean;
  /** The first day of the imported limits, `2027-01-01` or as people write it, and the limits of `document`. @default immediately */
  readonly from?: { readonly day: string; readonly limits: LimitSet; readonly nowMs: number } | undefined;
}

/** An entry of the document as it shall be, and the line it comes from. Undefined: the file does not name it. */
interface Line {
  readonly entry: LimitEntry;
  readonly line: number | undefined;
}

export function importLimits(rows: readonly CsvRow[], options: ImportOptions) {
  const refused = (some: readonly CsvProblem[]) => ({ ok: false, problems: some }) as const;
  const { document, policy, directory, prune, from } = options;
  const problems: CsvProblem[] = [];
  const understood: UnderstoodCell[] = [];
  const placed = placedEntries(document);
  const day = from && readWrittenDay(from.day);
  const why = from && (day?.ok ? notFrom(day.text, from.nowMs) : day?.message);
  if (why !== undefined) return refused([{ line: 0, column: 'from', message: why }]);
  const fromDay = from && day?.ok ? limitsFrom(day.text, from.limits, placed, from.nowMs) : undefined;
  const byKey = new Map(placed.map((each) => [entryKey(each.subject, each.id), each]));
  const named = new Map<PlacedEntry, readonly Line[]>();
  const added: { readonly list: LimitList; readonly line: Line }[] = [];
  const firstLines = new Map<string, number>();
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
    const current = own && (fromDay?.meant(own, cells, keys) ?? own);
    const key = entryKey(subject, current?.id ?? id);
    const first = firstLines.get(key);
    if (first !== undefined) {
      refuse('limit_id', `'${id}' of ${subject} is there twice; line ${first} has it, too`);
      continue;
    }
    firstLines.set(key, line);
    const reading: CellContext = {
      ...{ dialect: options.dialect, currency: policy.currency, refuse },
      understand: (column, written, read) => void understood.push({ line, column, written, read }),
    };
    const { valid_from: begin, ...others } = cells;
    // The day says when it begins.
    const isBegun = fromDay !== undefined && (current !== own || begin === '');
    const entry = edited(current?.entry ?? place.start, isBegun ? others : cells, id, reading);
    if (entry === undefined) continue;
    if (current === undefined) {
      added.push({ list: place.list, line: { entry: fromDay?.added(entry) ?? entry, line } });
      continue;
    }
    const isSame = fromDay === undefined || isDeepStrictEqual(entry, current.entry);
    const entries = isSame ? [entry] : (fromDay.changed(current, entry, refuse) ?? []);
    named.set(
      current,
      entries.map((each) => ({ entry: each, line })),
    );
  }
  if (problems.length > 0) return refused(problems.slice(0, PROBLEMS_MAX));

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
  /** Keeps everything that the rows do not change, with grants, freezes and rollouts. */
  const next: Record<string, unknown> = { ...document };
  for (const [list, entries] of lines)
    if (entries.length > 0 || next[list] !== undefined) next[list] = entries.map(({ entry }) => entry);
  const parsed = parseLimits(next, '', policy, directory, STORED);
  if (!parsed.ok) return refused(inLines(parsed.problems, lines));
  const unnamed = placed.filter((each) => !named.has(each));
  return {
    ...({ ok: true, document: next as LimitsDocument, limits: parsed.value, understood } as const),
    /** Limits the file does not name: taken out with `prune`, else kept. */
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

function inLines(
  problems: readonly DocumentProblem[],
  lines: ReadonlyMap<LimitList, readonly Line[]>,
): readonly CsvProblem[] {
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
