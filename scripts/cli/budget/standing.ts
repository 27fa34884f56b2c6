/** How limits stand: what is used and held of them now, and what is left. */

import type { LimitTable } from '../../../functions/core/limits/limit-table.ts';
import { withOpenings } from '../../../functions/core/limits/period-openings.ts';
import { limitAt } from '../../../policies/limits/amount-in-force.ts';
import { limitsOfGroup } from '../../../policies/limits/levels.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, type LimitSet } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/validity.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Budget } from './open-budget.ts';

/** A limit as it is in force now, and its counter. Whole units. */
export interface Standing {
  readonly subject: string;
  readonly limit: Limit;
  /** Final: what jobs that ended used. */
  readonly used: number;
  /** What jobs that run now hold. */
  readonly held: number;
  /** Below 0: past the limit. Absent: unlimited. */
  readonly left?: number;
}

const TIMEOUT_MS = 15_000;
/** One batch read each. */
const COUNTERS_AT_ONCE = 500;

/**
 * The limits in force with what was carried over, as admissions see them. Nothing is written: a period that no admission
 * has opened yet is opened by the first.
 */
export async function limitsInForce(
  limits: LimitSet,
  { limits: table, counters }: Pick<Budget, 'limits' | 'counters'>,
  nowMs: number,
): Promise<LimitSet> {
  const deps = { table: readingOpenings(table), previous: counters.readCounters, timeoutMs: TIMEOUT_MS };
  return (await withOpenings(limits, nowMs, new Map(), deps)).limits;
}

/**
 * All limits that somebody is asked for now; groups include those they have by default.
 *
 * @param personal - also what personal namespaces have by default, of which there may be one a user.
 */
export function subjectLimits(
  limits: LimitSet,
  { groupById }: Directory,
  nowMs: number,
  wanted: (subject: string) => boolean,
  personal = false,
): readonly { readonly subject: string; readonly limit: Limit }[] {
  const subjects = new Set(limits.bySubject.keys());
  for (const group of groupById.values()) if (personal || !group.personal) subjects.add(`group/${group.id}`);
  return [...subjects].filter(wanted).flatMap((subject) => {
    const group = /^group\/(\d+)$/.exec(subject)?.[1];
    const known = group === undefined ? undefined : groupById.get(Number(group));
    const own =
      known === undefined
        ? (limits.bySubject.get(subject) ?? []).filter((limit) => isValidAt(limit, nowMs))
        : limitsOfGroup(limits, known, nowMs);
    return own.map((limit) => ({ subject, limit }));
  });
}

/** One per limit, same order. @throws {LedgerError} `ledger_unavailable` */
export async function standings(
  all: readonly { readonly subject: string; readonly limit: Limit }[],
  { ledger }: Pick<Budget, 'ledger'>,
  nowMs: number,
): Promise<readonly Standing[]> {
  const found: Standing[] = [];
  for (let first = 0; first < all.length; first += COUNTERS_AT_ONCE) {
    const some = all.slice(first, first + COUNTERS_AT_ONCE);
    const keys = some.map(({ limit }) => counterOf(limit, nowMs));
    const counters = await ledger.readCounters(keys, { timeoutMs: TIMEOUT_MS });
    for (const [index, { subject, limit }] of some.entries()) {
      const { settled = 0, committed = 0 } = counters[index] ?? {};
      const inForce = limitAt(limit, nowMs);
      const left = inForce.amount === 'unlimited' ? undefined : inForce.amount - committed;
      found.push({
        subject,
        limit: inForce,
        used: settled,
        held: committed - settled,
        ...(left !== undefined && { left }),
      });
    }
  }
  return found;
}

/** Used and held of the limit, per cent; nothing can be said of a limit of 0, or of none. */
export function percentOf({ limit: { amount }, used, held }: Standing): number | undefined {
  return amount === 'unlimited' || amount === 0 ? undefined : ((used + held) / amount) * 100;
}

/** The same table, which notes no opening: that is for the programs whose clocks are looked after. */
const readingOpenings = (table: LimitTable): LimitTable => ({
  getPointer: (options) => table.getPointer(options),
  putChunk: (set, chunk, options) => table.putChunk(set, chunk, options),
  readChunks: (set, names, options) => table.readChunks(set, names, options),
  flip: (to, base, options, entry) => table.flip(to, base, options, entry),
  readLog: (before, max, options) => table.readLog(before, max, options),
  putRequest: (item, options) => table.putRequest(item, options),
  readRequests: (max, options) => table.readRequests(max, options),
  retire: (set, atSeconds, options) => table.retire(set, atSeconds, options),
  readOpenings: (keys, options) => table.readOpenings(keys, options),
  putOpening: async (opening) => opening,
});
