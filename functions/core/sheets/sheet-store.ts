/** Stores sheets: a head, and parts if one item is too small. */
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type BatchGetDeps, batchGet, itemAt, putItem } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import { type InstanceTable, type Item, TimeLimit, TTL_ATTRIBUTE } from '../store/operation.ts';
import { answered, unavailable } from '../store/table-failure.ts';
import { usageExpiresAtSeconds } from '../usage/rollup-store.ts';

export const JOB_KEYS = [
  ...(['branch', 'job', 'source', 'merge-request'] as const),
  ...(['outcome', 'schedule', 'hour', 'user'] as const),
] as const;
export type JobKey = (typeof JOB_KEYS)[number];

/** Made of records. Classes of the whole GitLab have usage of their own, those of its groups and projects have not. */
export const JOB_SHEET_KINDS = [...JOB_KEYS, 'subject-class'] as const;
export type JobSheetKind = (typeof JOB_SHEET_KINDS)[number];

/**
 * Rows are groups by id with the instance as row 0, projects by id, or classes and what {@link jobRowName} and
 * {@link classRowName} make by their place in `names`.
 */
export type SheetKind = 'group' | 'project' | 'class' | JobSheetKind;

/**
 * Name of a row of jobs, with its project, so that a report can be about a group.
 *
 * @param placeId - a project; for hours, which are too many per project, a top-level group, or undefined for
 * all jobs.
 */
export const jobRowName = (placeId: number | undefined, key: string): string => `${placeId ?? ''}\n${key}`;

/** A class within a group or a project, as of the decision: a project that moves takes nothing from the groups it was in. */
export const classRowName = (subject: string, runnerClass: string): string => `${subject}\n${runnerClass}`;

/**
 * Users are only in daily sheets, which expire when user ids leave the records, and which `tollgate forget
 * user` rewrites. Their monthly sheet is only a head, which lists packed days.
 */
export const USER_SHEET_DAYS = 90;
const DAY_SECONDS = 86_400;

export const sheetExpiresAtSeconds = (kind: SheetKind, day: string): number =>
  kind === 'user'
    ? Date.parse(`${day}T00:00:00Z`) / 1000 + USER_SHEET_DAYS * DAY_SECONDS
    : usageExpiresAtSeconds({ subject: '', day });

/**
 * GitLab sends no schedule id: the description distinguishes schedules of a project, if sent, and people
 * recognise the branch.
 */
export const scheduleRowKey = (asked: { readonly scheduleDigest?: string; readonly ref?: string }): string =>
  `${asked.scheduleDigest ?? ''} ${asked.ref ?? ''}`;

interface SheetName {
  readonly kind: SheetKind;
  /** A day, `2026-11-21`, or a month, `2026-11`. */
  readonly span: string;
}

export interface PackedDay {
  /** The digest of the instance's usage on that day; empty: there was none, and there is no sheet of the day. */
  readonly digest: string;
  readonly atMs: number;
}

export interface Sheet extends SheetName {
  /** The names of all but groups and projects: the row's id is the place in it. */
  readonly names?: readonly string[];
  readonly bytes: Uint8Array;
  readonly later?: Uint8Array;
  /** The days that the sheet of a month is the sum of. */
  readonly days?: ReadonlyMap<string, PackedDay>;
}

export type SheetStore = ReturnType<typeof dynamoSheetStore>;

const TIMEOUT_MS = 10_000;
const PART_BYTES_MAX = 300_000;

const BYTES = 'by';
const PARTS = 'pa';
const WRITING = 'wr';
/** Parts of `later`, which have numbers of their own: programs from before it do not ask for them. */
const LATER_PARTS = 'lp';
const LATER_FROM = 500;
const NAMES = 'na';
const DAYS = 'da';

/** Every method throws `ledger_unavailable` where the table gives no answer. */
export function dynamoSheetStore({
  partBytes = PART_BYTES_MAX,
  ...deps
}: BatchGetDeps & InstanceTable & { readonly partBytes?: number }) {
  const keys = ledgerKeys(deps.instance);
  const failure = unavailable(deps.table);
  // A sheet that is packed at this moment is an hour newer next time: stale reads do no harm, and cost half.
  const get = (wanted: readonly { readonly name: SheetName; readonly part: number }[]) =>
    answered('read sheets', failure, () => {
      const asked = wanted.map(({ name, part }) => keys.sheet(name.kind, name.span, part));
      return batchGet(asked, TIMEOUT_MS, deps, { consistent: false });
    });
  return {
    /** In their order; undefined: it is not there, or not whole. @param what - `first` leaves out `later` */
    async read(names: readonly SheetName[], what: 'all' | 'first' = 'all') {
      const heads = await get(names.map((name) => ({ name, part: 0 })));
      const wanted = names.flatMap((name, index) =>
        partNumbers(heads[index], what === 'all').map((part) => ({ name, index, part })),
      );
      const found = wanted.length === 0 ? [] : await get(wanted);
      const parts = wanted.map(({ index, part }, at) => ({ index, part, item: found[at] }));
      const partsByName = Map.groupBy(parts, ({ index }) => index);
      return names.map((name, index) => {
        const head = heads[index];
        const own = partsByName.get(index) ?? [];
        if (head === undefined || own.some(({ item }) => item?.[WRITING]?.S !== head[WRITING]?.S))
          return undefined;
        const some = (isLater: boolean) =>
          own.flatMap(({ part, item }) => (part >= LATER_FROM === isLater ? [item] : []));
        return decode(name, head, joinBytes([head, ...some(false)]), joinBytes(some(true)));
      });
    },
    async write(sheet: Sheet): Promise<void> {
      const { kind, span, names, days, later = new Uint8Array() } = sheet;
      const packed = names === undefined ? new Uint8Array() : gzipSync(JSON.stringify(names));
      const bytes = Buffer.concat([packed, sheet.bytes]);
      const writing = randomBytes(6).toString('base64url');
      const parts = Math.max(1, Math.ceil(bytes.length / partBytes));
      const laterParts = Math.ceil(later.length / partBytes);
      const put = async (part: number, some: Uint8Array, attributes: Item = {}): Promise<void> => {
        const item = itemAt(keys.sheet(kind, span, part), {
          ...{ [BYTES]: { B: some }, [WRITING]: { S: writing }, ...attributes },
          ...(isDay(span) && { [TTL_ATTRIBUTE]: { N: String(sheetExpiresAtSeconds(kind, span)) } }),
        });
        await answered('write a sheet', failure, () => putItem(deps.table, item, new TimeLimit(TIMEOUT_MS)));
      };
      const slicePart = (of: Uint8Array, part: number): Uint8Array =>
        of.subarray(part * partBytes, (part + 1) * partBytes);
      for (let part = 0; part < laterParts; part += 1) await put(LATER_FROM + part, slicePart(later, part));
      for (let part = parts - 1; part > 0; part -= 1) await put(part, slicePart(bytes, part));
      // The head is written last, so its readers find all parts.
      await put(0, slicePart(bytes, 0), {
        [PARTS]: { N: String(parts) },
        ...(laterParts > 0 && { [LATER_PARTS]: { N: String(laterParts) } }),
        ...(names !== undefined && { [NAMES]: { N: String(packed.length) } }),
        ...(days !== undefined && { [DAYS]: { S: JSON.stringify(dayRows(days)) } }),
      });
    },
  };
}

const isDay = (span: string): boolean => span.length > '2026-11'.length;

function partNumbers(head: Item | undefined, isAll: boolean): readonly number[] {
  const count = (name: string): number => Number(head?.[name]?.N ?? 0);
  const later = isAll ? count(LATER_PARTS) : 0;
  return [
    ...Array.from({ length: Math.max(0, count(PARTS) - 1) }, (_, part) => part + 1),
    ...Array.from({ length: later }, (_, part) => LATER_FROM + part),
  ];
}

function joinBytes(parts: readonly (Item | undefined)[]): Uint8Array {
  const all = parts.map((item) => item?.[BYTES]?.B ?? new Uint8Array());
  return all.length === 1 && all[0] !== undefined ? all[0] : Buffer.concat(all);
}

function decode({ kind, span }: SheetName, head: Item, bytes: Uint8Array, later: Uint8Array): Sheet {
  const names = head[NAMES]?.N === undefined ? undefined : Number(head[NAMES].N);
  const days = head[DAYS]?.S;
  return {
    ...{ kind, span, bytes: bytes.subarray(names ?? 0) },
    ...(later.length > 0 && { later }),
    ...(names !== undefined && { names: JSON.parse(gunzipSync(bytes.subarray(0, names)).toString()) }),
    ...(days !== undefined && { days: parseDays(days) }),
  };
}

const dayRows = (days: ReadonlyMap<string, PackedDay>) =>
  [...days].map(([day, { digest, atMs }]) => [day, digest, atMs] as const);

function parseDays(text: string): ReadonlyMap<string, PackedDay> {
  const rows = JSON.parse(text) as ReturnType<typeof dayRows>;
  return new Map(rows.map(([day, digest, atMs]) => [day, { digest, atMs }]));
}
