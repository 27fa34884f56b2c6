/** Packs usage of days into sheets, and days into months. A day is packed again when the instance's usage of it has changed. */

import { createHash } from 'node:crypto';
import type { Directory } from '../../policies/directory.ts';
import { calendarDay, DAY_MS, dayNumber, HOUR_MS } from '../../policies/limits/calendar.ts';
import { dayText, readTallies, today } from '../answers/reading/usage-days.ts';
import type { LedgerClock } from '../core/environment/environment.ts';
import {
  addSumTo,
  eachRow,
  eachSum,
  packedSums,
  type SheetSum,
  sumTally,
  WHOLE,
} from '../core/sheets/sheet-rows.ts';
import type { PackedDay, Sheet, SheetKind, SheetStore } from '../core/sheets/sheet-store.ts';
import { readInParts } from '../core/store/parts.ts';
import { type RollupStore, usageExpiresAtSeconds } from '../core/usage/rollup-store.ts';
import { formerRootsIn, type UsageTally } from '../core/usage/usage.ts';

interface PackSheetsDeps {
  readonly sheets: SheetStore;
  readonly usage: Pick<RollupStore, 'readUsage'>;
  readonly subjects: () => Promise<PackedSubjects | undefined>;
  readonly zone: string;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
}

interface PackedSubjects {
  readonly directory: Directory;
  readonly classNames: readonly string[];
}

const KINDS = ['group', 'project', 'class'] as const satisfies readonly SheetKind[];
const MONTHS = 25;
/** Days that change are packed by each hourly run, which does not come to the second; older ones once a day. */
const FRESH_DAYS = 2;
const FRESH_MS = HOUR_MS / 2;
const STALE_MS = DAY_MS;

/** Every run looks at this month, the one before, and one of the others in turn. @throws {LedgerError} */
export async function packSheets(deadlineMs: number, deps: PackSheetsDeps) {
  const { clock, zone, sheets } = deps;
  const nowMs = clock.nowMs();
  const now = today(zone, nowMs);
  const turn = 2 + (Math.floor(nowMs / HOUR_MS) % (MONTHS - 2));
  const packed = { days: 0, left: 0 };
  let subjects: Promise<PackedSubjects | undefined> | undefined;
  for (const back of [0, 1, turn]) {
    const { year, month } = calendarDay(now);
    const first = dayNumber({ year, month: month - back, day: 1 });
    const last = dayNumber({ year, month: month - back + 1, day: 1 }) - 1;
    const key = dayText(first).slice(0, 7);
    // Days that are about to go would take what they had out of the month.
    if (usageExpiresAtSeconds({ subject: '', day: dayText(first) }) * 1000 < nowMs + 2 * DAY_MS) continue;
    const [head] = await sheets.read([{ kind: 'group', span: key }], 'first');
    const days = new Map(head?.days);
    const due = await dueDays(first, Math.min(last, now), days, { ...deps, now, nowMs });
    let isChanged = false;
    for (const { day, digest } of due) {
      // A day without a job is known to be one, and needs no sheet.
      if (digest !== '') {
        subjects ??= deps.subjects();
        const found = await subjects;
        if (found === undefined || clock.monotonicMs() >= deadlineMs) {
          packed.left += 1;
          continue;
        }
        // There is a personal namespace for each user: those of a day under way wait for the night.
        await packDay(day, { ...found, withPersonal: day < dayText(now) }, deps);
        packed.days += 1;
      }
      days.set(day, { digest, atMs: nowMs });
      isChanged = true;
    }
    if (isChanged) await packMonth(key, days, sheets);
  }
  return packed;
}

async function dueDays(
  first: number,
  last: number,
  days: ReadonlyMap<string, PackedDay>,
  { usage, now, nowMs }: PackSheetsDeps & { readonly now: number; readonly nowMs: number },
): Promise<readonly { readonly day: string; readonly digest: string }[]> {
  const tallies = (await readTallies(['instance'], { from: first, to: last }, usage)).get('instance') ?? [];
  return tallies
    .map(({ number, day, tally }) => ({ number, day, digest: digestTally(tally) }))
    .filter(({ number, day, digest }) => {
      const known = days.get(day);
      const pauseMs = now - number < FRESH_DAYS ? FRESH_MS : STALE_MS;
      return known === undefined || (known.digest !== digest && nowMs - known.atMs >= pauseMs);
    });
}

async function packDay(
  day: string,
  { directory, classNames, withPersonal }: PackedSubjects & { readonly withPersonal: boolean },
  { sheets, usage }: PackSheetsDeps,
): Promise<void> {
  // Rows that were in it before are looked at again, on the sheets they have moved to since.
  const known = await sheets.read(
    KINDS.map((kind) => ({ kind, span: day })),
    'first',
  );
  const read = async (subjects: ReadonlyMap<number, string>): Promise<Map<number, UsageTally>> => {
    const keys = [...subjects].map(([id, subject]) => ({ id, subject, day }));
    const tallies = await readInParts(keys, (some) => usage.readUsage(some));
    return new Map(
      keys.flatMap(({ id }, index) => {
        const tally = tallies[index];
        return tally === undefined || tally.size === 0 ? [] : [[id, tally] as const];
      }),
    );
  };
  const below = Map.groupBy(directory.groupById.values(), ({ parentId = WHOLE }) => parentId);
  const groups = await read(new Map([[WHOLE, 'instance']]));
  const seen = new Set<number>([WHOLE]);
  let next = [
    ...rowIds(known, 'group'),
    ...formerRootsIn(groups.get(WHOLE) ?? new Map()),
    ...(below.get(WHOLE) ?? []).filter(({ personal }) => withPersonal || !personal).map(({ id }) => id),
  ].filter((id) => !seen.has(id));
  while (next.length > 0) {
    for (const id of next) seen.add(id);
    const found = await read(new Map(next.map((id) => [id, `group/${id}`])));
    for (const [id, tally] of found) groups.set(id, tally);
    const children = [...found.keys()].flatMap((id) => (below.get(id) ?? []).map((group) => group.id));
    next = [...new Set(children)].filter((id) => !seen.has(id));
  }
  const projectIds = new Set(rowIds(known, 'project'));
  for (const { id, groupId } of directory.projectById.values()) if (groups.has(groupId)) projectIds.add(id);
  const projects = await read(new Map([...projectIds].map((id) => [id, `project/${id}`])));
  const names = [...new Set([...classNames, ...classNamesIn(known), ''])];
  const classes = await read(new Map(names.map((name, id) => [id, `runner-class/${name}`])));
  const used = {
    group: packedTallies(groups),
    project: packedTallies(projects),
    class: { ...packedTallies(classes), names },
  };
  for (const kind of KINDS) await sheets.write({ kind, span: day, ...used[kind] });
}

/** Writes the month as the sum of its days. Days whose sheets are gone are packed again. */
async function packMonth(span: string, days: Map<string, PackedDay>, sheets: SheetStore): Promise<void> {
  const packed = [...days].flatMap(([day, { digest }]) => (digest === '' ? [] : [day])).sort();
  // Groups come last: what stands there is whole everywhere.
  for (const kind of KINDS.toReversed()) {
    const read = await sheets.read(packed.map((day) => ({ kind, span: day })));
    for (const [index, day] of packed.entries()) if (read[index] === undefined) days.delete(day);
    await sheets.write({ kind, span, days, ...summed(read.filter((sheet) => sheet !== undefined)) });
  }
}

function summed(sheets: readonly Sheet[]): Pick<Sheet, 'bytes' | 'later' | 'names'> {
  if (sheets.some(({ names }) => names !== undefined))
    return namedSheet(sumsOfSheets(sheets), Number.POSITIVE_INFINITY);
  const sums = new Map<number, SheetSum>();
  for (const sheet of sheets) eachSum(sheet, (id, sum) => addSumTo(sums, id, sum));
  return packedSums(sums);
}

const digestTally = (tally: UsageTally): string =>
  tally.size === 0
    ? ''
    : createHash('sha256')
        .update(JSON.stringify([...tally].sort(([a], [b]) => (a < b ? -1 : 1))))
        .digest('base64url')
        .slice(0, DIGEST_CHARACTERS);

const DIGEST_CHARACTERS = 16;

const packedTallies = (tallies: ReadonlyMap<number, UsageTally>) =>
  packedSums(new Map([...tallies].map(([id, tally]) => [id, sumTally(tally)])));

function rowIds(known: readonly (Sheet | undefined)[], of: SheetKind): readonly number[] {
  const ids: number[] = [];
  for (const sheet of known) if (sheet?.kind === of) eachRow(sheet.bytes, (id) => ids.push(id));
  return ids;
}

const classNamesIn = (known: readonly (Sheet | undefined)[]): readonly string[] =>
  known.flatMap((sheet) => (sheet?.kind === 'class' ? (sheet.names ?? []) : []));

export type NamedSums = ReadonlyMap<string, SheetSum>;

export function namedSheet(sums: NamedSums, rowsMax: number): Pick<Sheet, 'bytes' | 'later' | 'names'> {
  const all = [...sums].sort(
    ([nameA, a], [nameB, b]) => (b[0] ?? 0) - (a[0] ?? 0) || (nameA < nameB ? -1 : 1),
  );
  const rows = all.slice(0, rowsMax);
  return {
    names: rows.map(([name]) => name),
    ...packedSums(new Map(rows.map(([, sum], place) => [place, sum]))),
  };
}

export function sumsOfSheets(sheets: readonly Pick<Sheet, 'bytes' | 'later' | 'names'>[]): NamedSums {
  const sums = new Map<string, SheetSum>();
  for (const { names = [], ...sheet } of sheets)
    eachSum(sheet, (place, sum) => addSumTo(sums, names[place] ?? '', sum));
  return sums;
}
