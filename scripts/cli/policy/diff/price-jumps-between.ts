import {
  type PriceJump,
  type PriceList,
  type PriceTable,
  priceJumps,
  pricesAt,
  priceVersions,
} from '../../../../policies/price.ts';
import { moneyText } from '../../../../policies/unit-texts.ts';
import { entriesOf, entryOf } from '../written-document.ts';
import type { Side } from './diff-policies.ts';

/** A rate that would be many times another one the moment the new policy is in force, or later. */
export interface LaterPriceJump extends PriceJump {
  /** Version of the new prices. */
  readonly version: string;
  /** Factor of the change; absent if one is free. */
  readonly times?: number;
}

/**
 * The jumps from what a job pays by one policy to what it pays by another, now and whenever later prices begin. What
 * the new policy newly confirms with `allow_jump` is none, nor a confirmed price that only begins on another day.
 */
export function jumpsBetween(from: Side, to: Side, nowMs: number): readonly LaterPriceJump[] {
  const [before, after] = [from.policy.prices, to.policy.prices];
  const found = new Map<string, LaterPriceJump>();
  for (const atMs of new Set([nowMs, ...startsAfter(before, nowMs), ...startsAfter(after, nowMs)])) {
    const recent = pricesAt(after, atMs);
    for (const jump of priceJumps(pricesAt(before, atMs), recent)) {
      const key = `${recent.version}\n${nameOf(jump)}`;
      if (found.has(key) || isConfirmed(jump, recent, from, to)) continue;
      found.set(key, { ...jump, version: recent.version, ...timesOf(jump) });
    }
  }
  return [...found.values()];
}

const nameOf = ({ runnerClass, rate }: PriceJump): string => `${runnerClass} ${rate}`;

/** A confirmation that stood there before says nothing about a rate that has changed since. */
function isConfirmed(jump: PriceJump, recent: PriceList, from: Side, to: Side): boolean {
  if (!allowsJump(to, recent)) return false;
  if (!allowsJump(from, recent)) return true;
  const stood = priceVersions(from.policy.prices).find(({ version }) => version === recent.version);
  return stood !== undefined && !priceJumps(stood, recent, 1).some((each) => nameOf(each) === nameOf(jump));
}

const startsAfter = ({ later = [] }: PriceTable, nowMs: number): readonly number[] =>
  later.flatMap(({ fromMs }) => (fromMs > nowMs ? [fromMs] : []));

const allowsJump = ({ document }: Side, { version }: PriceList): boolean =>
  entriesOf(entryOf(document).prices)
    .map(entryOf)
    .some((each) => String(each.version) === version && each.allow_jump === true);

function timesOf({ fromMicros, toMicros }: PriceJump): { readonly times?: number } {
  const [less, more] = [Math.min(fromMicros, toMicros), Math.max(fromMicros, toMicros)];
  return less === 0 ? {} : { times: Math.round((more / less) * 10) / 10 };
}

/** `rate_per_minute of class large goes from 0.60 to 600.00, 1000 times as much (prices 2)`. */
export function jumpText({
  rate,
  runnerClass,
  fromMicros,
  toMicros,
  times,
  version,
}: LaterPriceJump): string {
  const by = times === undefined ? '' : `, ${times} times as ${toMicros > fromMicros ? 'much' : 'little'}`;
  const [from, to] = [moneyText(fromMicros), moneyText(toMicros)];
  return `${rate} of class ${runnerClass} goes from ${from} to ${to}${by} (prices ${version})`;
}
