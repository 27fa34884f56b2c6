import type { BreakGlass } from '../../../policies/limits/break-glass.ts';
import { capOf, capWords } from '../../../policies/limits/cap.ts';
import {
  type Freeze,
  type Grant,
  type Limit,
  OUTAGE_POLICIES,
  SHARE_PARTS,
} from '../../../policies/limits/limit.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { compareModes } from '../../../policies/rollout.ts';
import { outageOfKind, type Unit } from '../../../policies/units/unit.ts';

export type Effect = 'tightens' | 'loosens' | 'neutral';

/** One field that differs. A limit that came or went has one row for each of its fields. */
export interface ChangeRow {
  readonly about: ChangeTopic;
  /** `instance` for what holds for the whole document. */
  readonly subject: string;
  /** Full path of the group or project, or name of the class, where one is known. */
  readonly path?: string;
  /** The limit's id. A grant has that of its limit, a freeze or break-glass its own, a rollout the class of rule. */
  readonly limit: string;
  /** The grant's, if it has one. */
  readonly id?: string;
  /** `amount`, `soft`, `mode` … as limits.yaml has them. */
  readonly field: string;
  /** `null`: nothing there. Numbers are whole units of `unit`, everything else is text. */
  readonly from: FieldValue;
  readonly to: FieldValue;
  readonly unit?: Unit;
  /** IANA zone in which the days of `from` and `until` are meant. Absent: UTC. */
  readonly zone?: string;
  readonly effect: Effect;
  /** All of it is new, or all of it goes. */
  readonly whole?: 'added' | 'removed';
}

export type ChangeTopic = 'limit' | 'grant' | 'freeze' | 'breakglass' | 'rollout' | 'document';

export type FieldValue = number | string | null;

/** Keyed by name, in display order; absent fields are left out. */
export type Fields = ReadonlyMap<string, number | string>;

/** Lists the fields of limits, grants, freezes and break-glasses, with the names of limits.yaml. */

export const limitFields = (limit: Limit): Fields =>
  fields({
    amount: limit.amount,
    soft: writtenSoft(limit),
    grace:
      shareText(limit.graceShare) ??
      (limit.graceAmount === undefined || limit.amount === 'unlimited'
        ? undefined
        : limit.graceAmount - limit.amount),
    carry: writtenCarry(limit),
    overdraft: limit.overdraft,
    mode: limit.mode,
    when_unreachable: limit.whenUnreachable,
    wait: writtenWait(limit),
    cohort: limit.cohort,
    borrow: writtenBorrow(limit),
    lend: writtenLend(limit),
    per: limit.per,
    zone: limit.zone === 'UTC' ? undefined : limit.zone,
    fiscal_start: limit.fiscalStart,
    from: instantText(limit.fromMs),
    until: instantText(limit.untilMs),
    thresholds: thresholdsOf(limit),
    owner: limit.owner,
    contact: limit.contact,
    cost_center: limit.costCenter,
    reason: limit.reason,
  });

const thresholdsOf = (limit: Limit): string | undefined => {
  const written = writtenThresholds(limit);
  return written && `[${written.join(', ')}]`;
};

/** As they were written: `[80, 100, 'forecast 100']`. */
export const writtenThresholds = ({
  thresholds,
  forecastThresholds = [],
}: Limit): readonly (number | string)[] | undefined =>
  thresholds && [...thresholds, ...forecastThresholds.map((percent) => `forecast ${percent}`)];

/** As it was written: a share as `80%`, or whole units. */
export const writtenSoft = ({ softShare, softAmount }: Limit): string | number | undefined =>
  shareText(softShare) ?? softAmount;

export const writtenCarry = ({ carryShare, carryMax }: Limit): string | number | undefined =>
  shareText(carryShare) ?? carryMax;

export const writtenWait = ({ waitMs }: Limit): string | undefined =>
  waitMs === undefined ? undefined : `${waitMs / 1_000}s`;

export const writtenBorrow = ({ borrowShare, borrow }: Limit): string | number | undefined =>
  shareText(borrowShare) ?? borrow;

export const writtenLend = ({ lendShare, lend }: Limit): string | number | undefined =>
  shareText(lendShare) ?? lend;

export const grantFields = (grant: Grant): Fields =>
  fields({
    amount: grant.amount,
    from: instantText(grant.fromMs),
    until: instantText(grant.untilMs),
    reason: grant.reason,
    ticket: grant.ticket,
    by: grant.by,
    requested_by: grant.requestedBy,
    approved_by: grant.approvedBy,
    by_user: grant.byUser,
    requested_by_user: grant.requestedByUser,
    approved_by_user: grant.approvedByUser,
  });

export const freezeFields = (freeze: Freeze): Fields =>
  fields({
    from: instantText(freeze.fromMs),
    // A freeze without an end differs from no freeze.
    until: instantText(freeze.untilMs) ?? 'lifted',
    // The edges are instants now; show them in the zone.
    zone: freeze.zone === 'UTC' ? undefined : freeze.zone,
    reason: freeze.reason,
    owner: freeze.owner,
    by: freeze.by,
    by_user: freeze.byUser,
  });

export const breakGlassFields = (glass: BreakGlass): Fields =>
  fields({
    jobs: glass.jobs,
    per: glass.per,
    users: glass.users.size === 0 ? undefined : [...glass.users].join(', '),
    protected: glass.protected ? 'true' : undefined,
    from: instantText(glass.fromMs),
    until: instantText(glass.untilMs),
    zone: glass.zone,
    reason: glass.reason,
    ticket: glass.ticket,
    owner: glass.owner,
    by: glass.by,
    by_user: glass.byUser,
    reviewed: glass.reviewed && [glass.reviewed.by, glass.reviewed.note].filter(Boolean).join(': '),
    reviewed_by_user: glass.reviewed?.byUser,
  });

function fields(values: Readonly<Record<string, FieldValue | undefined>>): Fields {
  const there = new Map<string, number | string>();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== null) there.set(name, value);
  return there;
}

/** `80%`, `12.5%`. */
const shareText = (parts: number | undefined): string | undefined =>
  parts === undefined ? undefined : `${parts / (SHARE_PARTS / 100)}%`;

/** `2026-12-01T00:00:00Z`: what a person wrote as a day is an instant by now. */
const instantText = (atMs: number | undefined): string | undefined =>
  atMs === undefined ? undefined : new Date(atMs).toISOString().replace('.000Z', 'Z');

/** Shows `from` and `until` in their own zone; UTC is left out. */
export const edgeZone = (field: string, zone: string): { readonly zone?: string } =>
  (field === 'from' || field === 'until') && zone !== 'UTC' ? { zone } : {};

/** Returns the full path of a group or project, or the name of a class. Undefined if unknown. */
export function subjectPath(subject: string, directory: Directory | undefined): string | undefined {
  const cap = capOf(subject);
  if (cap !== undefined) return `${capWords(cap.kind)} of ${subjectPath(cap.place, directory) ?? cap.place}`;
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  switch (kind) {
    case 'group':
      return directory?.groupById.get(Number(name))?.path;
    case 'project':
      return directory?.projectById.get(Number(name))?.path;
    case 'runner-class':
    case 'groups':
      return name;
    default:
      return undefined;
  }
}

/**
 * Classifies changed fields. A change that could do either counts as loosening, which needs the stronger
 * right.
 */

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
