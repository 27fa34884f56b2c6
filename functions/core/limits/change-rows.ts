/** Changes between two sets of limits, one row per field, with their effect on jobs. Names are those of limits.yaml. */
import type { Directory } from '../../../policies/directory.ts';
import type { BreakGlass } from '../../../policies/limits/break-glass.ts';
import { capSubject, capWords, isCap, parseCap } from '../../../policies/limits/cap.ts';
import type { Freeze, Grant, Limit } from '../../../policies/limits/limit.ts';
import { limitFields, writtenInstant } from '../../../policies/limits/limit-fields.ts';
import { defaultsOf, type LimitSet, limitsOn, type RolloutClass } from '../../../policies/limits/limits.ts';
import { MODES, type Mode } from '../../../policies/mode.ts';
import { rolloutPlaceOf, rolloutSubjects } from '../../../policies/rollout.ts';
import { ROLLOUT_CLASSES, rolloutStatus } from '../../../policies/rollout-step.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ChangeRow, Effect, FieldValue } from './edit-model.ts';

export interface ChangeRowsInput {
  readonly from: LimitSet;
  readonly to: LimitSet;
  readonly directory: Directory | undefined;
  readonly nowMs: number;
}

export const NO_LIMITS: LimitSet = {
  version: '',
  bySubject: new Map(),
  rollouts: new Map(),
  personalDefault: [],
};

export function changeRows(between: ChangeRowsInput): readonly ChangeRow[] {
  const { from, to, directory, nowMs } = between;
  const [before, after] = [limitsByPlace(from), limitsByPlace(to)];
  const places = new Set([...after.keys(), ...before.keys()]);
  const rows = [...places].flatMap((place) => {
    const [earlier, later] = [before.get(place) ?? [], after.get(place) ?? []];
    if (earlier === later) return [];
    const grants = rowsBetween(grantThings(place, earlier), grantThings(place, later), nowMs, KINDS.grant);
    return [...limitRows(place, earlier, later, between), ...grants];
  });
  const all = [
    ...rows,
    ...orderRow('group_defaults', patternNames, from, to),
    ...orderRow('breakglass', ({ breakGlasses = [] }) => breakGlasses.map(({ id }) => id), from, to),
    ...(['freeze', 'breakglass'] as const).flatMap((about) =>
      rowsBetween(entryThings(about, from), entryThings(about, to), nowMs, KINDS[about]),
    ),
    ...rolloutRows(from, to, directory),
  ];
  return all.map((row) => ({ ...row, ...withoutAbsent({ path: subjectPath(row.subject, directory) }) }));
}

/** Groups limits by subject. The two kinds of defaults have subjects of their own. */
export function limitsByPlace(set: LimitSet): ReadonlyMap<string, readonly Limit[]> {
  const places = new Map(set.bySubject);
  if (set.personalDefault.length > 0) places.set('personal', set.personalDefault);
  for (const { groups, limit } of set.groupDefaults?.all ?? []) {
    const place = `groups/${groups.pattern}`;
    places.set(place, [...(places.get(place) ?? []), limit]);
  }
  return places;
}

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

const entryFields = (entry: Partial<Grant> & Partial<Freeze> & Partial<BreakGlass>): Fields =>
  fields({
    ...{ amount: entry.amount, jobs: entry.jobs, per: entry.per },
    users: entry.users?.size ? [...entry.users].join(', ') : undefined,
    protected: entry.protected ? 'true' : undefined,
    from: writtenInstant(entry.fromMs),
    // Only a freeze may have no end.
    until: writtenInstant(entry.untilMs) ?? 'lifted',
    // The edges are instants now; show them in the zone.
    zone: entry.zone === 'UTC' ? undefined : entry.zone,
    ...{ reason: entry.reason, ticket: entry.ticket, owner: entry.owner },
    ...{ by: entry.by, requested_by: entry.requestedBy, approved_by: entry.approvedBy },
    ...{ by_user: entry.byUser, requested_by_user: entry.requestedByUser },
    approved_by_user: entry.approvedByUser,
    reviewed: entry.reviewed && [entry.reviewed.by, entry.reviewed.note].filter(Boolean).join(': '),
    reviewed_by_user: entry.reviewed?.byUser,
  });

const fields = (values: Readonly<Record<string, FieldValue | undefined>>): Fields =>
  new Map(Object.entries(values).filter((each): each is [string, number | string] => each[1] != null));

export function subjectPath(subject: string, directory: Directory | undefined): string | undefined {
  const cap = parseCap(subject);
  if (cap !== undefined) return `${capWords(cap.kind)} of ${subjectPath(cap.place, directory) ?? cap.place}`;
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  if (kind === 'group') return directory?.groupById.get(Number(name))?.path;
  if (kind === 'project') return directory?.projectById.get(Number(name))?.path;
  return kind === 'runner-class' || kind === 'groups' ? name : undefined;
}

/* Effects. A change that could do either counts as loosening, which needs the stronger right. */

const OPPOSITE = { tightens: 'loosens', loosens: 'tightens', neutral: 'neutral' } as const;

const moreLoosens = <Value extends number | string>(from: Value, to: Value): Effect =>
  to === from ? 'neutral' : to > from ? 'loosens' : 'tightens';

const modeEffect = (from: Mode, to: Mode): Effect => moreLoosens(MODES.indexOf(to), MODES.indexOf(from));

/** Returns the bound of jobs; a limit that is not enforced has none. */
const limitReachOf = ({ amount }: Limit): number =>
  amount === 'unlimited' ? Number.POSITIVE_INFINITY : amount;

export const binds = ({ mode, amount }: Limit): boolean => mode === 'enforce' && amount !== 'unlimited';

function limitEffect(name: string, from: Limit, to: Limit): Effect {
  if (name !== 'mode' && from.mode !== 'enforce' && to.mode !== 'enforce') return 'neutral';
  if (name === 'amount') return moreLoosens(limitReachOf(from), limitReachOf(to));
  const reach = limitFields.find((field) => field.name === name)?.reach;
  if (reach === undefined) return 'neutral';
  return reach === 'any' ? 'loosens' : moreLoosens(reach(from), reach(to));
}

interface ThingKind {
  readonly added: Exclude<Effect, 'neutral'>;
  readonly main: string;
  /** More of these fields has the effect of `added`. */
  readonly ordered: readonly string[];
  /** Any change of these may loosen. */
  readonly loosening: readonly string[];
}

const KINDS = {
  grant: { added: 'loosens', main: 'amount', ordered: ['amount', 'from', 'until'], loosening: [] },
  freeze: { added: 'tightens', main: 'until', ordered: ['from', 'until'], loosening: [] },
  breakglass: {
    ...{ added: 'loosens', main: 'jobs', ordered: ['jobs', 'from', 'until'] },
    loosening: ['users', 'protected', 'per'],
  },
} as const satisfies Readonly<Record<string, ThingKind>>;

function thingEffect(kind: ThingKind, field: string, from: FieldValue, to: FieldValue): Effect {
  if (kind.loosening.includes(field)) return 'loosens';
  if (!kind.ordered.includes(field)) return 'neutral';
  const effect = ordered(field, from, to);
  return kind.added === 'tightens' ? OPPOSITE[effect] : effect;
}

/** Instants as texts sort by time; `lifted`, which is never, sorts last. An earlier beginning is more. */
function ordered(field: string, from: FieldValue, to: FieldValue): Effect {
  if (from === null || to === null) return field === 'from' && to !== null ? 'tightens' : 'loosens';
  const effect = moreLoosens(from, to);
  return field === 'from' ? OPPOSITE[effect] : effect;
}

/* Limits, grants, freezes and break-glasses as fields. */

interface Thing extends Pick<ChangeRow, 'about' | 'subject' | 'limit' | 'id' | 'unit'> {
  readonly zone: string;
  readonly fields: Fields;
  readonly untilMs?: number | undefined;
}

type Things = ReadonlyMap<string, Thing>;

/** Days of `from` and `until` are in their own zone; UTC is left out. */
const rowOf = ({ about, subject, limit, id, unit, zone }: Thing, field: string) => ({
  ...{ about, subject, limit, field },
  ...withoutAbsent({ id, unit }),
  ...((field === 'from' || field === 'until') && zone !== 'UTC' && { zone }),
});

const wholeRows = (thing: Thing, whole: 'added' | 'removed', main: string, effect: Effect) =>
  [...thing.fields].map(
    ([field, value]): ChangeRow => ({
      ...rowOf(thing, field),
      from: whole === 'added' ? null : value,
      to: whole === 'added' ? value : null,
      effect: field === main ? effect : 'neutral',
      whole,
    }),
  );

/** Fields of the later state come first, in their order. */
function changedRows(
  before: Thing,
  after: Thing,
  effectOf: (field: string, from: FieldValue, to: FieldValue) => Effect,
): readonly ChangeRow[] {
  const names = [...new Set([...after.fields.keys(), ...before.fields.keys()])];
  return names.flatMap((field): readonly ChangeRow[] => {
    const [from, to] = [before.fields.get(field) ?? null, after.fields.get(field) ?? null];
    return from === to ? [] : [{ ...rowOf(after, field), from, to, effect: effectOf(field, from, to) }];
  });
}

function grantThings(subject: string, limits: readonly Limit[]): Things {
  const named = new Map<string, Thing>();
  for (const limit of limits)
    for (const grant of limit.grants ?? []) {
      const name = grantName(limit, grant);
      let free = name;
      // An entry given twice in the same words is there twice.
      for (let times = 2; named.has(free); times += 1) free = `${name} ${times}`;
      const { id: limitId, unit, zone } = limit;
      named.set(free, {
        ...{ about: 'grant', subject, limit: limitId, unit, zone, fields: entryFields(grant) },
        ...{ untilMs: grant.untilMs, ...withoutAbsent({ id: grant.id }) },
      });
    }
  return named;
}

/** Entries without an id are compared by content. */
const grantName = ({ id: limit }: Limit, grant: Grant): string =>
  grant.id ?? JSON.stringify([limit, grant.amount, grant.fromMs, grant.untilMs, grant.reason, grant.ticket]);

const entryThings = (about: 'freeze' | 'breakglass', { freezes, breakGlasses = [] }: LimitSet): Things => {
  const entries = about === 'freeze' ? [...(freezes?.values() ?? [])].flat() : breakGlasses;
  return new Map(
    entries.map((entry) => {
      const { subject, id: limit, zone = 'UTC', untilMs } = entry;
      return [`${subject} ${limit}`, { about, subject, limit, zone, untilMs, fields: entryFields(entry) }];
    }),
  );
};

function rowsBetween(before: Things, after: Things, nowMs: number, kind: ThingKind): readonly ChangeRow[] {
  // Expired entries have no effect.
  const isOver = ({ untilMs }: Thing): boolean => untilMs !== undefined && untilMs <= nowMs;
  const whole = (thing: Thing, which: 'added' | 'removed', effect: Effect): readonly ChangeRow[] =>
    wholeRows(thing, which, kind.main, isOver(thing) ? 'neutral' : effect);
  const gone = [...before].filter(([name]) => !after.has(name));
  return [
    ...gone.flatMap(([, each]) => whole(each, 'removed', OPPOSITE[kind.added])),
    ...[...after].flatMap(([name, later]) => {
      const earlier = before.get(name);
      if (earlier === undefined) return whole(later, 'added', kind.added);
      const over = isOver(earlier) && isOver(later);
      return changedRows(earlier, later, (field, from, to) =>
        over ? 'neutral' : thingEffect(kind, field, from, to),
      );
    }),
  ];
}

const patternNames = ({ groupDefaults }: LimitSet): readonly string[] =>
  groupDefaults?.all.map(({ groups, limit }) => `${groups.pattern} ${limit.id}`) ?? [];

/** The first pattern that matches a group counts, and the first glass that a job may use. */
function orderRow(
  limit: string,
  names: (set: LimitSet) => readonly string[],
  before: LimitSet,
  after: LimitSet,
): readonly ChangeRow[] {
  const [earlier, later] = [names(before), names(after)];
  const [there, still] = [new Set(earlier), new Set(later)];
  const from = earlier.filter((name) => still.has(name)).join(', ');
  const to = later.filter((name) => there.has(name)).join(', ');
  if (from === to) return [];
  return [{ about: 'document', subject: 'instance', limit, field: 'order', from, to, effect: 'loosens' }];
}

/* Limits. */

function limitRows(
  place: string,
  before: readonly Limit[],
  after: readonly Limit[],
  sets: Pick<ChangeRowsInput, 'from' | 'to' | 'directory'>,
): readonly ChangeRow[] {
  const gone = before.filter(({ id }) => !after.some((each) => each.id === id));
  const removed = gone.flatMap((limit) => {
    const instead = defaultsInstead(place, limit, sets.to, sets.directory);
    // Removing a limit may restore a default.
    const isNeutral = !binds(limit) && !instead.some(binds);
    const effect = isNeutral ? 'neutral' : isTighter(instead, [limit]) ? 'tightens' : 'loosens';
    return wholeRows(limitThing(place, limit), 'removed', 'amount', effect);
  });
  const there = after.flatMap((limit): readonly ChangeRow[] => {
    const earlier = before.find(({ id }) => id === limit.id);
    if (earlier !== undefined) return changedLimit(place, earlier, limit);
    // A pattern may take groups away from one that stands after it.
    const instead = defaultsInstead(place, limit, sets.from, sets.directory);
    const loosens = place.startsWith('groups/')
      ? sets.from.groupDefaults?.all.some((other) => other.limit.kind === limit.kind && binds(other.limit))
      : instead.some(binds) && !isTighter([limit], instead);
    const effect = loosens ? 'loosens' : binds(limit) ? 'tightens' : 'neutral';
    return wholeRows(limitThing(place, limit), 'added', 'amount', effect);
  });
  return [...removed, ...there];
}

/** The defaults of its kind that a group or user has where they have no limit of their own. */
export function defaultsInstead(
  place: string,
  { kind }: Limit,
  set: LimitSet,
  directory: Directory | undefined,
): readonly Limit[] {
  if (isCap(place)) return [];
  const [what, id] = place.split('/');
  if (what === 'user')
    return limitsOn(set, capSubject('instance', 'user')).filter((limit) => limit.kind === kind);
  const group = what === 'group' ? directory?.groupById.get(Number(id)) : undefined;
  return group === undefined ? [] : defaultsOf(set, group).filter((limit) => limit.kind === kind);
}

const isTighter = (ones: readonly Limit[], others: readonly Limit[]): boolean =>
  ones.some(binds) && others.filter(binds).every((other) => ones.some((one) => isWithin(one, other)));

const isWithin = (one: Limit, other: Limit): boolean =>
  binds(one) && one.id === other.id && one.per === other.per && limitReachOf(one) <= limitReachOf(other);

const limitThing = (subject: string, limit: Limit): Thing => ({
  ...{ about: 'limit', subject, limit: limit.id, unit: limit.unit, zone: limit.zone },
  fields: limitFieldsOf(limit),
});

function changedLimit(subject: string, from: Limit, to: Limit): readonly ChangeRow[] {
  const later = limitThing(subject, to);
  const rows = changedRows(limitThing(subject, from), later, (field) => limitEffect(field, from, to));
  if (from.kind === to.kind) return rows;
  // Something else is counted from now on, and what was used of the other counts no more.
  const effect = from.mode === 'enforce' || to.mode === 'enforce' ? 'loosens' : 'neutral';
  return [{ ...rowOf(later, 'unit'), from: from.kind, to: to.kind, effect }, ...rows];
}

/* Rollouts. */

/** A subject without an entry inherits, so a change is computed from both effective modes. */
function rolloutRows(from: LimitSet, to: LimitSet, directory: Directory | undefined): readonly ChangeRow[] {
  const subjects = [...new Set([...to.rollouts.keys(), ...from.rollouts.keys()])];
  return subjects.flatMap((subject) => {
    const [before, after] = [from.rollouts.get(subject), to.rollouts.get(subject)];
    const modes = ROLLOUT_CLASSES.flatMap((limit): readonly ChangeRow[] => {
      const [was, is] = [before?.[limit], after?.[limit]];
      if (was === is) return [];
      const [earlier, later] = [from, to].map((set) => rolledOutMode(set, subject, limit, directory));
      const effect = modeEffect(earlier ?? 'enforce', later ?? 'enforce');
      return [{ about: 'rollout', subject, limit, field: 'mode', from: was ?? null, to: is ?? null, effect }];
    });
    if (before?.reportedMs === after?.reportedMs) return modes;
    const [was = null, is = null] = [before, after].map((each) =>
      each?.reportedMs === undefined ? null : new Date(each.reportedMs).toISOString(),
    );
    const reported = { about: 'rollout', subject, limit: 'report', field: 'sent' } as const;
    return [...modes, { ...reported, from: was, to: is, effect: 'neutral' }];
  });
}

export const rolledOutMode = (
  { rollouts }: LimitSet,
  subject: string,
  ruleClass: RolloutClass,
  directory: Directory | undefined,
): Mode => rolloutStatus(ruleClass, rolloutSubjects(rolloutPlaceOf(subject, directory)), rollouts).mode;
