/** Decides which changes need two people: bounds of limits, raises between two sets, lowest bounds of the last 30 days. */

import type { Directory } from '../../../policies/directory.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { type Grant, type Limit, SHARE_PARTS } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { EDITS_MAX, type LoggedChange, loggedChanges, rowsOf } from './change-log.ts';
import {
  binds,
  type ChangeRowsInput,
  defaultsInstead,
  type Fields,
  limitFieldsOf,
  limitsByPlace,
} from './change-rows.ts';
import type { ChangeRow, FieldValue } from './edit-model.ts';
import type { ApprovalSettings, LimitEditsDeps } from './limit-reads.ts';
import type { LimitTable } from './limit-table.ts';

const reachOfLimit = (limit: Limit): number =>
  reachOfFields(limitFieldsOf(limit)) ?? Number.POSITIVE_INFINITY;

/** The bound by a limit's fields in the change log. Undefined: there was no limit. */
function reachOfFields(fields: Fields): number | undefined {
  const amount = fields.get('amount');
  if (amount === undefined) return undefined;
  if (typeof amount !== 'number' || fields.get('mode') !== 'enforce') return Number.POSITIVE_INFINITY;
  return amount + partOf(fields.get('grace'), amount) + partOf(fields.get('carry'), amount);
}

/** `20%` of the amount, or whole units. */
function partOf(value: FieldValue | undefined, amount: number): number {
  if (typeof value === 'number') return value;
  const share = typeof value === 'string' ? /^([\d.]+)%$/.exec(value)?.[1] : undefined;
  if (share === undefined) return 0;
  return Number(
    (BigInt(amount) * BigInt(Math.round((Number(share) * SHARE_PARTS) / 100))) / BigInt(SHARE_PARTS),
  );
}

/** Measurable fields. Any other loosening counts as unlimited. */
const MEASURED: ReadonlySet<string> = new Set(['amount', 'grace', 'carry']);

/** Limits and their grants. Freezes, break-glasses and rollouts have rights and an end of their own. */
const isAboutLimit = ({ about, limit, effect }: ChangeRow): boolean =>
  effect === 'loosens' &&
  (about === 'limit' || about === 'grant' || (about === 'document' && limit === 'group_defaults'));

type Gain = ReturnType<typeof gainsOf>[number];

/** Limits that an edit lets jobs go further with. Whole units; Infinity: without an end. */
function gainsOf(rows: readonly ChangeRow[], between: ChangeRowsInput) {
  const byLimit = Map.groupBy(rows.filter(isAboutLimit), limitPlaceText);
  if (byLimit.size === 0) return [];
  const [before, after] = [limitsByPlace(between.from), limitsByPlace(between.to)];
  return [...byLimit.values()].map((some) => {
    const { subject = '', limit = '' } = some[0] ?? {};
    const [own, then] = [before, after].map((places) => places.get(subject)?.find(({ id }) => id === limit));
    const was = own ?? then;
    const gain = { subject, limit, rows: some, own };
    // The order of the defaults: which limit whose group gets is then another.
    if (was === undefined) return { ...gain, before: 0, approved: 0, after: Number.POSITIVE_INFINITY };
    const counted = some.every(({ about, field }) => about === 'grant' || MEASURED.has(field));
    const grants = (then?.grants ?? []).filter(({ untilMs }) => untilMs > between.nowMs);
    const instead = (set: LimitSet): number | undefined => reachInstead(was, subject, set, between.directory);
    const reach = then === undefined ? (instead(between.to) ?? Number.POSITIVE_INFINITY) : reachOfLimit(then);
    return {
      ...gain,
      before: own === undefined ? (instead(between.from) ?? 0) : reachOfLimit(own),
      approved: sumOf(
        (own?.grants ?? []).filter((grant) => grant.approvedBy !== undefined && isAmong(grant, grants)),
      ),
      after: counted ? reach + sumOf(grants) : Number.POSITIVE_INFINITY,
    };
  });
}

const limitPlaceText = ({ subject, limit }: Pick<ChangeRow, 'subject' | 'limit'>): string =>
  `${subject} ${limit}`;

/** Returns the bound of the defaults that apply without such a limit. Undefined: they count another unit. */
function reachInstead(
  limit: Limit,
  subject: string,
  set: LimitSet,
  directory: Directory | undefined,
): number | undefined {
  const all = subject.startsWith('groups/')
    ? (set.groupDefaults?.all ?? []).map((each) => each.limit).filter(({ kind }) => kind === limit.kind)
    : defaultsInstead(subject, limit, set, directory);
  const instead = all.filter(binds);
  if (instead.length === 0) return Number.POSITIVE_INFINITY;
  return instead.every(({ id, per }) => id === limit.id && per === limit.per)
    ? Math.min(...instead.map(reachOfLimit))
    : undefined;
}

/** Unchanged: one that was made larger or longer since is to be approved again. */
const isAmong = ({ id, amount, fromMs, untilMs }: Grant, grants: readonly Grant[]): boolean =>
  grants.some(
    (each) => each.id === id && each.amount === amount && each.fromMs === fromMs && each.untilMs === untilMs,
  );

const sumOf = (grants: readonly Grant[]): number => grants.reduce((sum, { amount }) => sum + amount, 0);

/** Budgets are by the month, and a request waits as long. */
const WINDOW_MS = 30 * DAY_MS;
/** Large edits opened; each may have megabytes. */
const OPENED_MAX = 50;

interface Walked {
  readonly fields: Map<string, number | string>;
  least: number;
}

/**
 * Returns the lowest bound, without grants, in the last thirty days or since the last approval. 0 if the log
 * does not have it. @throws {LimitsError}
 *
 * @param live - as they are live, by `limitPlaceText`.
 * @param instead - the bound by a default while the limit did not exist.
 */
async function leastLately(
  live: ReadonlyMap<string, Limit>,
  instead: (place: string) => number,
  nowMs: number,
  table: LimitTable,
): Promise<ReadonlyMap<string, number>> {
  const all = new Map<string, Walked>(
    [...live].map(([place, limit]) => [
      place,
      { fields: new Map(limitFieldsOf(limit)), least: reachOfLimit(limit) },
    ]),
  );
  /** Limits whose last approval was not met yet. */
  const walking = new Map(all);
  const found = (isUnknown: boolean): ReadonlyMap<string, number> =>
    new Map([...all].map(([place, { least }]) => [place, isUnknown && walking.has(place) ? 0 : least]));
  if (walking.size === 0) return found(false);
  let opened = 0;
  let looked = 0;
  for await (const { logged } of loggedChanges(table)) {
    if (logged.atMs <= nowMs - WINDOW_MS) return found(false);
    looked += 1;
    if (!mayConcern(logged, walking)) continue;
    if (logged.rows === undefined) opened += 1;
    const rows = opened > OPENED_MAX ? undefined : await rowsOf(logged, table);
    if (rows === undefined) return found(true);
    for (const [place, some] of Map.groupBy(rows.filter(isOfLimit), limitPlaceText)) {
      const walked = walking.get(place);
      if (walked === undefined) continue;
      if (logged.request !== undefined) walking.delete(place);
      else takeBack(walked, some, () => instead(place));
    }
    if (walking.size === 0) return found(false);
  }
  return found(looked === EDITS_MAX);
}

const isOfLimit = ({ about }: ChangeRow): boolean => about === 'limit' || about === 'grant';

const mayConcern = ({ subjects, count }: LoggedChange, walking: ReadonlyMap<string, Walked>): boolean =>
  subjects === undefined ||
  (count > 0 && [...walking.keys()].some((place) => subjects.some((each) => place.startsWith(`${each} `))));

function takeBack(walked: Walked, rows: readonly ChangeRow[], instead: () => number): void {
  const own = rows.filter(({ about }) => about === 'limit');
  if (own.length === 0) return;
  for (const { field, from } of own) {
    if (from === null) walked.fields.delete(field);
    else walked.fields.set(field, from);
  }
  const reach = reachOfFields(walked.fields) ?? instead();
  walked.least = Math.min(walked.least, reach);
}

const APPROVAL_DEFAULT: ApprovalSettings = { abovePercent: 50 };

export async function toApprove(
  rows: readonly ChangeRow[],
  between: ChangeRowsInput,
  { table, approval = APPROVAL_DEFAULT }: Pick<LimitEditsDeps, 'table' | 'approval'>,
): Promise<readonly ChangeRow[]> {
  const { from, directory, nowMs } = between;
  const gains = gainsOf(rows, between);
  const live = new Map(
    gains.flatMap((gain) =>
      gain.own === undefined || isAbove(gain, gain.before, approval)
        ? []
        : [[limitPlaceText(gain), gain.own] as const],
    ),
  );
  const instead = (place: string): number => {
    const own = live.get(place);
    return (own && reachInstead(own, own.subject, from, directory)) ?? Number.POSITIVE_INFINITY;
  };
  const least = await leastLately(live, instead, nowMs, table);
  const two = gains.filter((gain) =>
    isAbove(gain, Math.min(gain.before, least.get(limitPlaceText(gain)) ?? gain.before), approval),
  );
  const found = new Set(two.flatMap((gain) => gain.rows));
  return rows.filter((row) => found.has(row));
}

function isAbove({ approved, after }: Gain, before: number, { abovePercent }: ApprovalSettings): boolean {
  const was = before + approved;
  if (!Number.isFinite(was)) return false;
  if (!Number.isFinite(after)) return true;
  return after > was && BigInt(after) * 100n > BigInt(was) * BigInt(100 + abovePercent);
}
