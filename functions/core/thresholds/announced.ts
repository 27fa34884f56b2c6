/** Which levels were told. Kept by the ledger's announcements, so that it outlives every process. */

import { createHash } from 'node:crypto';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { longestDays } from '../../../policies/limits/period.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Crossing } from './crossings.ts';
import type { ThresholdLevel } from './level.ts';

/** GitLab's longest job is a month: it may settle in a period that is long over. */
const LATE_DAYS = 35;
/** For what never starts anew: an item needs some end. */
const ONCE_DAYS = 3_660;
const TIMEOUT_MS = 2_000;
/** An announcement that ended before it began never stands, not even for a clock ten minutes behind: it only asks. */
const ASKING_TTL_MS = -600_000;
/** The ledger asks for all it is given at once. */
const ASKED_AT_ONCE_MAX = 50;
/** Some 100 bytes each. */
const KNOWN_MAX = 20_000;

/** A crossing under the amount its limit had: 90 % of a raised limit is another promise, and told again. */
export interface AmountCrossing {
  readonly crossing: Crossing;
  readonly limitAmount: number;
}

/** The name of one told level, also the id receivers know repeats by. */
export const crossingId = (
  { crossing: { key, measure, level }, limitAmount }: AmountCrossing,
  name: string = level.name,
): string => JSON.stringify(['threshold', key.subject, key.limit, key.period, limitAmount, measure, name]);

/** As short as any other, whatever people called their limits. */
export const shortId = (id: string): string => createHash('sha256').update(id).digest('base64url');

/** Until when it is known what was told of a period. Unix ms. */
export function keptUntilMs(period: string, nowMs: number): number {
  const days = longestDays(period);
  return nowMs + (Number.isFinite(days) ? days + LATE_DAYS : ONCE_DAYS) * DAY_MS;
}

/** What a process knows to be told already. */
export class KnownCrossings {
  readonly #ids = new Set<string>();

  has(crossing: AmountCrossing): boolean {
    return this.#ids.has(shortId(crossingId(crossing)));
  }

  add(crossings: readonly AmountCrossing[]): void {
    for (const each of crossings) this.#ids.add(shortId(crossingId(each)));
    // What is forgotten is asked again.
    for (const id of this.#ids) {
      if (this.#ids.size <= KNOWN_MAX) return;
      this.#ids.delete(id);
    }
  }
}

/** Those whose level was not told in this period. Asking notes nothing. */
export async function untold<Each extends AmountCrossing>(
  candidates: readonly Each[],
  ledger: Pick<Ledger, 'announceOnce'>,
  known?: KnownCrossings,
): Promise<readonly Each[]> {
  const news: Each[] = [];
  const unknown = known === undefined ? candidates : candidates.filter((each) => !known.has(each));
  for (let start = 0; start < unknown.length; start += ASKED_AT_ONCE_MAX) {
    const part = unknown.slice(start, start + ASKED_AT_ONCE_MAX);
    const ids = part.map((each) => crossingId(each));
    const isNew = await ledger.announceOnce(ids, { ttlMs: ASKING_TTL_MS, timeoutMs: TIMEOUT_MS });
    news.push(...part.filter((_, index) => isNew[index] !== false));
    known?.add(part.filter((_, index) => isNew[index] === false));
  }
  return news;
}

/**
 * Notes a crossing as told, and with it every level below. The told level is noted last: as long as it is missing, the
 * whole crossing counts as untold.
 */
export async function noteTold(
  { crossing, limitAmount }: AmountCrossing,
  ledger: Pick<Ledger, 'announceOnce'>,
): Promise<void> {
  const ttlMs = keptUntilMs(crossing.key.period, 0);
  const idOf = ({ name }: ThresholdLevel): string => crossingId({ crossing, limitAmount }, name);
  const below = crossing.passed.slice(0, -1).map(idOf);
  if (below.length > 0) await ledger.announceOnce(below, { ttlMs, timeoutMs: TIMEOUT_MS });
  await ledger.announceOnce([idOf(crossing.level)], { ttlMs, timeoutMs: TIMEOUT_MS });
}
