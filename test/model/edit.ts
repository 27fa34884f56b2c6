/** Edits of prices, limits and groups, and the passing of time. */
import type { Action, Passing } from './action.ts';
import { FIRST_LIMITS, type ModelLimit, ZONE } from './places.ts';
import { dayIn, nameOf } from './rulebook.ts';
import type { World } from './world.ts';

type Edit = Extract<Action, { do: 'price' | 'limit' | 'grant' | 'move' }>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MONTH_HOURS_MAX = 32 * 24;

export function edit(action: Edit, world: World): void {
  const { prices, limits, grants, tree } = world.edition;
  switch (action.do) {
    case 'price': {
      const last = prices.at(-1)?.fromMs ?? Number.NEGATIVE_INFINITY;
      const fromMs = Math.max(wholeMinute(world.nowMs()) + action.inMinutes * MINUTE_MS, last + MINUTE_MS);
      const { small, large } = action;
      world.edit({ prices: [...prices, { version: `p${prices.length}`, fromMs, rates: { small, large } }] });
      return;
    }
    case 'limit': {
      const base = baseOf(action.limit);
      const amount = action.tenths === 'unlimited' ? action.tenths : tenthsOf(base, action.tenths);
      world.edit({
        limits: limits.map((each) => (nameOf(each) === nameOf(base) ? { ...each, amount } : each)),
        // Nothing can be granted on top of what has no limit.
        grants:
          amount === 'unlimited' ? grants.filter(({ limit }) => nameOf(limit) !== nameOf(base)) : grants,
      });
      return;
    }
    case 'grant': {
      const base = baseOf(action.limit);
      const limit = limits.find((each) => nameOf(each) === nameOf(base)) ?? base;
      const amount = tenthsOf(base, action.tenths);
      if (limit.amount === 'unlimited' || amount === 0) return;
      const fromMs = wholeMinute(world.nowMs());
      world.edit({
        grants: [...grants, { limit, amount, fromMs, untilMs: fromMs + action.hours * HOUR_MS }],
      });
      return;
    }
    case 'move': {
      const { parentOf, groupOf } = tree;
      const other = (id: number | undefined): number => (id === 101 ? 102 : 101);
      world.edit({
        tree:
          action.what === 'group'
            ? { groupOf, parentOf: new Map([...parentOf, [103, other(parentOf.get(103))]]) }
            : { parentOf, groupOf: new Map([...groupOf, [1003, other(groupOf.get(1003))]]) },
      });
    }
  }
}

const wholeMinute = (atMs: number): number => Math.floor(atMs / MINUTE_MS) * MINUTE_MS;

function baseOf(index: number): ModelLimit & { readonly amount: number } {
  const limit = FIRST_LIMITS[index % FIRST_LIMITS.length];
  if (limit === undefined || limit.amount === 'unlimited')
    throw new Error('every limit begins with an amount');
  return { ...limit, amount: limit.amount };
}

/** Tenths of the amount it began with; seconds come in whole minutes. */
function tenthsOf({ amount, unit }: ModelLimit & { readonly amount: number }, tenths: number): number {
  const share = Math.ceil((amount * tenths) / 10);
  return unit === 'seconds' ? Math.ceil(share / 60) * 60 : share;
}

/** To 2 s before the next day or month begins in the company's zone. */
export function millisecondsOf(by: Passing, nowMs: number): number {
  if (typeof by === 'number') return by * 1000;
  const part = (atMs: number): string => dayIn(ZONE, atMs).slice(0, by === 'day' ? 10 : 7);
  let untilMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS;
  for (let hours = 0; hours < MONTH_HOURS_MAX && part(untilMs) === part(nowMs); hours += 1)
    untilMs += HOUR_MS;
  return Math.max(0, untilMs - 2_000 - nowMs);
}
