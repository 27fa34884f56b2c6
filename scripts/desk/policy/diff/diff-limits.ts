import { isDeepStrictEqual } from 'node:util';
import type { Limit, LimitSet, Rollout } from '../../../../policies/limits/limits.ts';
import { MODES, type Mode } from '../../../../policies/mode.ts';
import { amountWritten } from './amount-written.ts';
import type { Change, Effect } from './change.ts';
import { grantChanges } from './diff-grants.ts';
import { ranked } from './directions.ts';
import { leafText, valueText } from './leaves.ts';

/** Limits, with their grants, and rollouts that came, went or changed, by subject and id. */
export function limitChanges(from: LimitSet, to: LimitSet, nowMs: number): readonly Change[] {
  const [before, after] = [limitsOf(from), limitsOf(to)];
  const gone = [...before]
    .filter(([name]) => !after.has(name))
    .map(
      ([name, limit]): Change => ({
        at: name,
        what: `removed (${amountWritten(limit)})`,
        effect: unless(limit, 'loosens'),
      }),
    );
  const there = [...after].flatMap(([name, limit]): readonly Change[] => {
    const earlier = before.get(name);
    if (earlier !== undefined)
      return [...changed(name, earlier, limit), ...grantChanges(name, earlier, limit, nowMs)];
    return [{ at: name, what: `added (${amountWritten(limit)})`, effect: unless(limit, 'tightens') }];
  });
  return [...gone, ...there, ...rolloutChanges(from, to)];
}

/** A limit that rejects nobody changes nothing when it comes or goes. */
const unless = ({ mode, amount }: Limit, effect: Effect): Effect =>
  mode === 'enforce' && amount !== 'unlimited' ? effect : 'neutral';

function limitsOf(limits: LimitSet): ReadonlyMap<string, Limit> {
  const own = [...limits.bySubject.values()]
    .flat()
    .map((limit) => [`limits.${limit.subject}.${limit.id}`, limit] as const);
  const personal = limits.personalDefault.map((limit) => [`personal_default.${limit.id}`, limit] as const);
  return new Map([...own, ...personal]);
}

function changed(at: string, from: Limit, to: Limit): readonly Change[] {
  const enforced = from.mode === 'enforce' || to.mode === 'enforce';
  const amounts = (['amount', 'softAmount', 'graceAmount', 'carryMax'] as const).flatMap((key): Change[] => {
    if (from[key] === to[key]) return [];
    const what = `${amountWritten(from, key)} → ${amountWritten(to, key)}`;
    const effect = key === 'softAmount' || !enforced ? 'neutral' : amountEffect(from, to, key);
    return [{ at: `${at}.${NAMES[key]}`, what, effect }];
  });
  const rest = (['overdraft', 'mode', 'per', 'zone', 'fiscalStart', 'thresholds', 'owner'] as const).flatMap(
    (key): Change[] => {
      if (isDeepStrictEqual(from[key], to[key])) return [];
      return [
        {
          at: `${at}.${NAMES[key]}`,
          what: leafText({ path: [], from: from[key], to: to[key] }),
          effect: effectOf(key, from, to, enforced),
        },
      ];
    },
  );
  return [...amounts, ...rest];
}

function effectOf(
  key: 'overdraft' | 'mode' | 'per' | 'zone' | 'fiscalStart' | 'thresholds' | 'owner',
  from: Limit,
  to: Limit,
  enforced: boolean,
): Effect {
  switch (key) {
    case 'mode':
      return modeEffect(from.mode, to.mode);
    case 'overdraft':
      // What one period overdraws, the next one lacks.
      return enforced ? ranked(undefined, 'carry')(carries(from), carries(to)) : 'neutral';
    case 'thresholds':
    case 'owner':
      return 'neutral';
    case 'per':
    case 'zone':
    case 'fiscalStart':
      return 'unclear';
  }
}

const carries = ({ overdraft }: Limit): 'carry' | undefined =>
  overdraft === 'carry' ? overdraft : undefined;

/** As limits.yaml spells them. */
const NAMES = {
  amount: 'amount',
  softAmount: 'soft',
  graceAmount: 'grace',
  carryMax: 'carry.max',
  overdraft: 'overdraft',
  mode: 'mode',
  per: 'per',
  zone: 'zone',
  fiscalStart: 'fiscal_start',
  thresholds: 'thresholds',
  owner: 'owner',
} as const;

function amountEffect(from: Limit, to: Limit, key: 'amount' | 'graceAmount' | 'carryMax'): Effect {
  const reach =
    key === 'carryMax' ? ({ carryMax = 0 }: Limit) => carryMax : (limit: Limit) => reachOf(limit, key);
  const [before, after] = [reach(from), reach(to)];
  return after === before ? 'neutral' : after > before ? 'loosens' : 'tightens';
}

/** How far jobs may go; without a grace that is the limit itself. */
function reachOf(limit: Limit, key: 'amount' | 'graceAmount'): number {
  const amount = limit[key] ?? limit.amount;
  return amount === 'unlimited' ? Number.POSITIVE_INFINITY : amount;
}

const modeEffect = (from: Mode, to: Mode): Effect => ranked(...MODES)(from, to);

function rolloutChanges(from: LimitSet, to: LimitSet): readonly Change[] {
  const groups = [...new Set([...from.rollouts.keys(), ...to.rollouts.keys()])];
  return groups.flatMap((group) => {
    const [before, after]: readonly Rollout[] = [
      from.rollouts.get(group) ?? {},
      to.rollouts.get(group) ?? {},
    ];
    return (['cost', 'capacity'] as const).flatMap((ruleClass): Change[] => {
      const [one, other] = [before?.[ruleClass], after?.[ruleClass]];
      if (one === other) return [];
      // Without an entry of its own the group follows the one above, whose mode is not looked up here.
      const effect = one === undefined || other === undefined ? 'unclear' : modeEffect(one, other);
      return [
        { at: `rollout.${group}.${ruleClass}`, what: `${valueText(one)} → ${valueText(other)}`, effect },
      ];
    });
  });
}
