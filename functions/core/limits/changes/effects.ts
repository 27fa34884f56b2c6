/**
 * Classifies changed fields. A change that could do either counts as loosening, which needs the stronger
 * right.
 */
import { type Limit, OUTAGE_POLICIES } from '../../../../policies/limits/limit.ts';
import type { Mode } from '../../../../policies/mode.ts';
import { compareModes } from '../../../../policies/rollout.ts';
import { outageOfKind } from '../../../../policies/units/unit.ts';
import type { Effect, Fields, FieldValue } from './change-row.ts';

const OPPOSITE: Readonly<Record<Effect, Effect>> = {
  tightens: 'loosens',
  loosens: 'tightens',
  neutral: 'neutral',
};

const oppositeOf = (effect: Effect): Effect => OPPOSITE[effect];

/** More lets more jobs through. */
const moreLoosens = (from: number, to: number): Effect =>
  to === from ? 'neutral' : to > from ? 'loosens' : 'tightens';

export const modeEffect = (from: Mode, to: Mode): Effect => {
  const further = compareModes(to, from);
  return further === 0 ? 'neutral' : further > 0 ? 'tightens' : 'loosens';
};

/** Returns the bound of jobs; a limit that is not enforced has none. */
export const limitReachOf = ({ amount }: Limit): number =>
  amount === 'unlimited' ? Number.POSITIVE_INFINITY : amount;

export const binds = ({ mode, amount }: Limit): boolean => mode === 'enforce' && amount !== 'unlimited';

export function limitEffect(field: string, from: Limit, to: Limit): Effect {
  if (field === 'mode') return modeEffect(from.mode, to.mode);
  if (from.mode !== 'enforce' && to.mode !== 'enforce') return 'neutral';
  switch (field) {
    case 'amount':
      return moreLoosens(limitReachOf(from), limitReachOf(to));
    case 'grace':
      return moreLoosens(graceOf(from), graceOf(to));
    case 'carry':
      return moreLoosens(from.carryMax ?? 0, to.carryMax ?? 0);
    case 'overdraft':
      // An overdraft reduces the next period.
      return moreLoosens(Number(to.overdraft === 'carry'), Number(from.overdraft === 'carry'));
    case 'when_unreachable':
      return oppositeOf(moreLoosens(outageRankOf(from), outageRankOf(to)));
    case 'from':
      return moreLoosens(from.fromMs ?? Number.NEGATIVE_INFINITY, to.fromMs ?? Number.NEGATIVE_INFINITY);
    case 'until':
      return oppositeOf(
        moreLoosens(from.untilMs ?? Number.POSITIVE_INFINITY, to.untilMs ?? Number.POSITIVE_INFINITY),
      );
    case 'per':
    case 'zone':
    case 'fiscal_start':
      // A new counter begins, and what was spent counts no more.
      return 'loosens';
    default:
      return 'neutral';
  }
}

/** A field that is not there is taken for the kind's default, though the rule that asks the limit may say otherwise. */
const outageRankOf = ({ whenUnreachable, kind }: Limit): number =>
  OUTAGE_POLICIES.indexOf(whenUnreachable ?? outageOfKind(kind));

const graceOf = ({ graceAmount, amount }: Limit): number =>
  graceAmount === undefined || amount === 'unlimited' ? 0 : graceAmount - amount;

export const grantEffect = (field: string, from: FieldValue, to: FieldValue): Effect =>
  ['amount', 'from', 'until'].includes(field) ? ordered(field, from, to) : 'neutral';

export const freezeEffect = (field: string, from: FieldValue, to: FieldValue): Effect =>
  field === 'from' || field === 'until' ? oppositeOf(ordered(field, from, to)) : 'neutral';

export function breakGlassEffect(field: string, from: FieldValue, to: FieldValue): Effect {
  if (field === 'jobs' || field === 'from' || field === 'until') return ordered(field, from, to);
  return field === 'users' || field === 'protected' || field === 'per' ? 'loosens' : 'neutral';
}

/** Instants as texts sort by time; `lifted`, which is never, sorts last. An earlier beginning is more. */
function ordered(field: string, from: FieldValue, to: FieldValue): Effect {
  if (from === null || to === null) return field === 'from' && to !== null ? 'tightens' : 'loosens';
  const effect: Effect = from === to ? 'neutral' : to > from ? 'loosens' : 'tightens';
  return field === 'from' ? oppositeOf(effect) : effect;
}

/** The names of the fields that differ, those of the later one first in their order. */
export const differing = (from: Fields, to: Fields): readonly string[] =>
  [...new Set([...to.keys(), ...from.keys()])].filter((name) => from.get(name) !== to.get(name));
