/** The least that limits were lately, from the change log: many small steps are a large one. */
import { DAY_MS } from '../../../../../policies/limits/calendar.ts';
import type { Limit } from '../../../../../policies/limits/limit.ts';
import { type LoggedChange, loggedChangeOf, rowsOf } from '../../change-log.ts';
import type { ChangeRow } from '../../changes/change-row.ts';
import { limitFields } from '../../changes/fields.ts';
import type { LimitTable } from '../../limit-table.ts';
import { TIMEOUT_MS } from '../desk-reads.ts';
import { limitPlaceText } from './gains.ts';
import { reachOfFields, reachOfLimit } from './reach.ts';

/** Budgets are by the month, and a request waits as long. */
const WINDOW_MS = 30 * DAY_MS;
const PAGE_MAX = 100;
/** Edits looked through: a desk with more of them in a month is a machine's. */
const LOOKED_AT_MAX = 2_000;
/** Large edits opened; each may have megabytes. */
const OPENED_MAX = 50;

/** One limit on its way back through the log. */
interface Walked {
  readonly fields: Map<string, number | string>;
  /** Whole units. */
  least: number;
}

interface LeastAsked {
  /** As they are live, by `limitPlaceText`. */
  readonly live: ReadonlyMap<string, Limit>;
  /** How far jobs go by a default where the limit was not there yet. */
  readonly instead: (place: string) => number;
  readonly nowMs: number;
}

/**
 * How far jobs could go at least, without grants, in the last thirty days or since somebody approved more of the limit.
 * 0 where the log does not tell. @throws {LimitsError}
 */
export async function leastLately(
  { live, instead, nowMs }: LeastAsked,
  table: LimitTable,
): Promise<ReadonlyMap<string, number>> {
  const least = new Map<string, number>();
  const walking = new Map<string, Walked>(
    [...live].map(([place, limit]) => [
      place,
      { fields: new Map(limitFields(limit)), least: reachOfLimit(limit) },
    ]),
  );
  const end = (place: string, reach: number): void => {
    least.set(place, reach);
    walking.delete(place);
  };
  const endAll = (reachOf: (walked: Walked) => number): ReadonlyMap<string, number> => {
    for (const [place, walked] of [...walking]) end(place, reachOf(walked));
    return least;
  };
  let before: number | undefined;
  let opened = 0;
  for (let looked = 0; walking.size > 0; ) {
    const items = await table.readLog(before, PAGE_MAX, { timeoutMs: TIMEOUT_MS });
    for (const item of items) {
      const logged = loggedChangeOf(item);
      if (logged.atMs <= nowMs - WINDOW_MS) return endAll((walked) => walked.least);
      looked += 1;
      before = item.edit;
      if (!mayConcern(logged, walking)) continue;
      if (logged.rows === undefined) opened += 1;
      const rows = opened > OPENED_MAX || looked > LOOKED_AT_MAX ? undefined : await rowsOf(logged, table);
      if (rows === undefined) return endAll(() => 0);
      for (const [place, some] of Map.groupBy(rows.filter(isOfLimit), limitPlaceText)) {
        const walked = walking.get(place);
        if (walked === undefined) continue;
        if (logged.request !== undefined) end(place, walked.least);
        else takeBack(walked, some, () => instead(place));
      }
    }
    if (items.length < PAGE_MAX) return endAll((walked) => walked.least);
    if (looked > LOOKED_AT_MAX) return endAll(() => 0);
  }
  return least;
}

const isOfLimit = ({ about }: ChangeRow): boolean => about === 'limit' || about === 'grant';

const mayConcern = ({ subjects, count }: LoggedChange, walking: ReadonlyMap<string, Walked>): boolean =>
  subjects === undefined
    ? true
    : count > 0 && [...walking.keys()].some((place) => subjects.some((each) => place.startsWith(`${each} `)));

/** The limit as it was before an edit. */
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
