/** Fields that differ between two states of a limit, grant, freeze or break-glass, with the names of limits.yaml, and their effect on jobs. */

import type { Directory } from '../../../policies/directory.ts';
import type { BreakGlass } from '../../../policies/limits/break-glass.ts';
import { capOf, capWords } from '../../../policies/limits/cap.ts';
import type { Freeze, Grant, Limit } from '../../../policies/limits/limit.ts';
import { limitFields, writtenInstant } from '../../../policies/limits/limit-fields.ts';
import { MODES, type Mode } from '../../../policies/mode.ts';
import type { Unit } from '../../../policies/unit.ts';

export type Effect = 'tightens' | 'loosens' | 'neutral';

export interface ChangeRow {
  readonly about: ChangeTopic;
  /** `instance` for what holds for the whole document. */
  readonly subject: string;
  /** Full path of the group or project, or name of the class, where one is known. */
  readonly path?: string;
  /** The limit's id. A grant has that of its limit, a freeze or break-glass its own, a rollout the class of rule. */
  readonly limit: string;
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
  readonly whole?: 'added' | 'removed';
}

type ChangeTopic = 'limit' | 'grant' | 'freeze' | 'breakglass' | 'rollout' | 'document';

export type FieldValue = number | string | null;

/** Keyed by name, in display order; absent fields are left out. */
export type Fields = ReadonlyMap<string, number | string>;

export const limitFieldsOf = (limit: Limit): Fields =>
  fields({
    amount: limit.amount,
    ...Object.fromEntries(
      limitFields.map(({ name, written }) => {
        const value = written(limit);
        return [name, typeof value === 'object' ? `[${value.join(', ')}]` : value];
      }),
    ),
  });

export const grantFields = (grant: Grant): Fields =>
  fields({
    amount: grant.amount,
    ...edges(grant),
    reason: grant.reason,
    ticket: grant.ticket,
    ...signed(grant),
  });

export const freezeFields = (freeze: Freeze): Fields =>
  fields({
    ...edges(freeze),
    // A freeze without an end differs from no freeze.
    ...(freeze.untilMs === undefined && { until: 'lifted' }),
    // The edges are instants now; show them in the zone.
    zone: freeze.zone === 'UTC' ? undefined : freeze.zone,
    reason: freeze.reason,
    owner: freeze.owner,
    ...signed(freeze),
  });

export const breakGlassFields = (glass: BreakGlass): Fields =>
  fields({
    jobs: glass.jobs,
    per: glass.per,
    users: glass.users.size === 0 ? undefined : [...glass.users].join(', '),
    protected: glass.protected ? 'true' : undefined,
    ...edges(glass),
    ...{ zone: glass.zone, reason: glass.reason, ticket: glass.ticket, owner: glass.owner },
    ...signed(glass),
    reviewed: glass.reviewed && [glass.reviewed.by, glass.reviewed.note].filter(Boolean).join(': '),
    reviewed_by_user: glass.reviewed?.byUser,
  });

const edges = ({ fromMs, untilMs }: { readonly fromMs?: number; readonly untilMs?: number }) => ({
  from: writtenInstant(fromMs),
  until: writtenInstant(untilMs),
});

const signed = (
  by: Partial<
    Pick<Grant, 'by' | 'requestedBy' | 'approvedBy' | 'byUser' | 'requestedByUser' | 'approvedByUser'>
  >,
) => ({
  ...{ by: by.by, requested_by: by.requestedBy, approved_by: by.approvedBy },
  ...{ by_user: by.byUser, requested_by_user: by.requestedByUser, approved_by_user: by.approvedByUser },
});

function fields(values: Readonly<Record<string, FieldValue | undefined>>): Fields {
  const there = Object.entries(values).filter((each): each is [string, number | string] => each[1] != null);
  return new Map(there);
}

/** Shows `from` and `until` in their own zone; UTC is left out. */
export const edgeZone = (field: string, zone: string): { readonly zone?: string } =>
  (field === 'from' || field === 'until') && zone !== 'UTC' ? { zone } : {};

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

/* Effects. A change that could do either counts as loosening, which needs the stronger right. */

const OPPOSITE: Readonly<Record<Effect, Effect>> = {
  tightens: 'loosens',
  loosens: 'tightens',
  neutral: 'neutral',
};

const moreLoosens = (from: number, to: number): Effect =>
  to === from ? 'neutral' : to > from ? 'loosens' : 'tightens';

export const modeEffect = (from: Mode, to: Mode): Effect =>
  moreLoosens(MODES.indexOf(to), MODES.indexOf(from));

/** Returns the bound of jobs; a limit that is not enforced has none. */
export const limitReachOf = ({ amount }: Limit): number =>
  amount === 'unlimited' ? Number.POSITIVE_INFINITY : amount;

export const binds = ({ mode, amount }: Limit): boolean => mode === 'enforce' && amount !== 'unlimited';

export function limitEffect(name: string, from: Limit, to: Limit): Effect {
  if (name !== 'mode' && from.mode !== 'enforce' && to.mode !== 'enforce') return 'neutral';
  if (name === 'amount') return moreLoosens(limitReachOf(from), limitReachOf(to));
  const reach = limitFields.find((field) => field.name === name)?.reach;
  if (reach === undefined) return 'neutral';
  return reach === 'any' ? 'loosens' : moreLoosens(reach(from), reach(to));
}

export const grantEffect = (field: string, from: FieldValue, to: FieldValue): Effect =>
  ['amount', 'from', 'until'].includes(field) ? ordered(field, from, to) : 'neutral';

export const freezeEffect = (field: string, from: FieldValue, to: FieldValue): Effect =>
  field === 'from' || field === 'until' ? OPPOSITE[ordered(field, from, to)] : 'neutral';

export function breakGlassEffect(field: string, from: FieldValue, to: FieldValue): Effect {
  if (field === 'jobs' || field === 'from' || field === 'until') return ordered(field, from, to);
  return field === 'users' || field === 'protected' || field === 'per' ? 'loosens' : 'neutral';
}

/** Instants as texts sort by time; `lifted`, which is never, sorts last. An earlier beginning is more. */
function ordered(field: string, from: FieldValue, to: FieldValue): Effect {
  if (from === null || to === null) return field === 'from' && to !== null ? 'tightens' : 'loosens';
  const effect: Effect = from === to ? 'neutral' : to > from ? 'loosens' : 'tightens';
  return field === 'from' ? OPPOSITE[effect] : effect;
}

/** The names of the fields that differ, those of the later one first in their order. */
export const differing = (from: Fields, to: Fields): readonly string[] =>
  [...new Set([...to.keys(), ...from.keys()])].filter((name) => from.get(name) !== to.get(name));
