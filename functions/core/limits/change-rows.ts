import type { Directory } from '../../../policies/directory.ts';
import type { BreakGlass } from '../../../policies/limits/break-glass.ts';
import { capSubject, isCap } from '../../../policies/limits/cap.ts';
import type { Freeze, Grant, Limit } from '../../../policies/limits/limit.ts';
import { defaultsOf, type LimitSet, limitsOn, type RolloutClass } from '../../../policies/limits/limits.ts';
import type { Mode } from '../../../policies/mode.ts';
import { rolloutPlaceOf, rolloutSubjects } from '../../../policies/rollout.ts';
import { ROLLOUT_CLASSES, rolloutStanding } from '../../../policies/rollout-step.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  binds,
  breakGlassEffect,
  breakGlassFields,
  type ChangeRow,
  differing,
  type Effect,
  edgeZone,
  type Fields,
  type FieldValue,
  freezeEffect,
  freezeFields,
  grantEffect,
  grantFields,
  limitEffect,
  limitFieldsOf,
  limitReachOf,
  modeEffect,
  subjectPath,
} from './limit-changes.ts';

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
    const grants = rowsBetween(grantThings(place, earlier), grantThings(place, later), nowMs, GRANT);
    return [...limitRows(place, earlier, later, between), ...grants];
  });
  const all = [
    ...rows,
    ...orderRow('group_defaults', patternNames, from, to),
    ...orderRow('breakglass', ({ breakGlasses = [] }) => breakGlasses.map(({ id }) => id), from, to),
    ...rowsBetween(freezeThings(from), freezeThings(to), nowMs, FREEZE),
    ...rowsBetween(breakGlassThings(from), breakGlassThings(to), nowMs, BREAK_GLASS),
    ...rolloutRows(from, to, directory),
  ];
  return all.map((row) => {
    const path = subjectPath(row.subject, directory);
    return path === undefined ? row : { ...row, path };
  });
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

/* Grants, freezes and break-glasses: entries with an id. */

interface Thing extends Pick<ChangeRow, 'about' | 'subject' | 'limit' | 'id' | 'unit'> {
  readonly zone: string;
  readonly fields: Fields;
  readonly untilMs: number | undefined;
}

type Things = ReadonlyMap<string, Thing>;

interface ThingKind {
  readonly added: Exclude<Effect, 'neutral'>;
  readonly main: string;
  readonly effect: (field: string, from: FieldValue, to: FieldValue) => Effect;
}

const GRANT: ThingKind = { added: 'loosens', main: 'amount', effect: grantEffect };
const FREEZE: ThingKind = { added: 'tightens', main: 'until', effect: freezeEffect };
const BREAK_GLASS: ThingKind = { added: 'loosens', main: 'jobs', effect: breakGlassEffect };

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
        ...{ about: 'grant', subject, limit: limitId, unit, zone, fields: grantFields(grant) },
        ...{ untilMs: grant.untilMs, ...withoutAbsent({ id: grant.id }) },
      });
    }
  return named;
}

/** Entries without an id are compared by content. */
const grantName = ({ id: limit }: Limit, grant: Grant): string =>
  grant.id ?? JSON.stringify([limit, grant.amount, grant.fromMs, grant.untilMs, grant.reason, grant.ticket]);

const entryThings = <Entry extends Freeze | BreakGlass>(
  about: 'freeze' | 'breakglass',
  entries: readonly Entry[],
  fieldsOf: (entry: Entry) => Fields,
): Things =>
  new Map(
    entries.map((entry) => {
      const { subject, id: limit, zone = 'UTC', untilMs } = entry;
      return [`${subject} ${limit}`, { about, subject, limit, zone, untilMs, fields: fieldsOf(entry) }];
    }),
  );
const freezeThings = ({ freezes }: LimitSet): Things =>
  entryThings('freeze', [...(freezes?.values() ?? [])].flat(), freezeFields);
const breakGlassThings = ({ breakGlasses = [] }: LimitSet): Things =>
  entryThings('breakglass', breakGlasses, breakGlassFields);

function rowsBetween(before: Things, after: Things, nowMs: number, kind: ThingKind): readonly ChangeRow[] {
  const isOver = ({ untilMs }: Thing): boolean => untilMs !== undefined && untilMs <= nowMs;
  const rowOf = ({ about, subject, limit, id, unit, zone }: Thing, field: string) => ({
    ...{ about, subject, limit, field },
    ...withoutAbsent({ id, unit }),
    ...edgeZone(field, zone),
  });
  const wholeRows = (each: Thing, whole: 'added' | 'removed', effect: Effect): readonly ChangeRow[] =>
    // Expired entries have no effect.
    rowsOfWhole(each.fields, whole, kind.main, isOver(each) ? 'neutral' : effect, (field) =>
      rowOf(each, field),
    );
  const removed = kind.added === 'loosens' ? 'tightens' : 'loosens';
  const gone = [...before].filter(([name]) => !after.has(name));
  return [
    ...gone.flatMap(([, each]) => wholeRows(each, 'removed', removed)),
    ...[...after].flatMap(([name, later]) => {
      const earlier = before.get(name);
      if (earlier === undefined) return wholeRows(later, 'added', kind.added);
      const over = isOver(earlier) && isOver(later);
      return differing(earlier.fields, later.fields).map((field): ChangeRow => {
        const [from, to] = [earlier.fields.get(field) ?? null, later.fields.get(field) ?? null];
        return { ...rowOf(later, field), from, to, effect: over ? 'neutral' : kind.effect(field, from, to) };
      });
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
    return wholeLimit(place, limit, 'removed', effect);
  });
  const there = after.flatMap((limit): readonly ChangeRow[] => {
    const earlier = before.find(({ id }) => id === limit.id);
    if (earlier !== undefined) return changedLimit(place, earlier, limit);
    // A pattern may take groups away from one that stands after it.
    const instead = defaultsInstead(place, limit, sets.from, sets.directory);
    const loosens = place.startsWith('groups/')
      ? sets.from.groupDefaults?.all.some((other) => other.limit.kind === limit.kind && binds(other.limit))
      : instead.some(binds) && !isTighter([limit], instead);
    return wholeLimit(place, limit, 'added', loosens ? 'loosens' : binds(limit) ? 'tightens' : 'neutral');
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
  ones.some(binds) &&
  others
    .filter(binds)
    .every((other) =>
      ones.some(
        (one) =>
          binds(one) &&
          one.id === other.id &&
          one.per === other.per &&
          limitReachOf(one) <= limitReachOf(other),
      ),
    );

const wholeLimit = (subject: string, limit: Limit, whole: 'added' | 'removed', effect: Effect) =>
  rowsOfWhole(limitFieldsOf(limit), whole, 'amount', effect, (field) => limitRow(subject, limit, field));

const rowsOfWhole = (
  fields: Fields,
  whole: 'added' | 'removed',
  main: string,
  effect: Effect,
  rowOf: (field: string) => Omit<ChangeRow, 'from' | 'to' | 'effect'>,
): readonly ChangeRow[] =>
  [...fields].map(([field, value]) => ({
    ...rowOf(field),
    from: whole === 'added' ? null : value,
    to: whole === 'added' ? value : null,
    effect: field === main ? effect : 'neutral',
    whole,
  }));

const limitRow = (subject: string, { id, unit, zone }: Limit, field: string) =>
  ({ about: 'limit', subject, limit: id, field, unit, ...edgeZone(field, zone) }) as const;

function changedLimit(subject: string, from: Limit, to: Limit): readonly ChangeRow[] {
  const [before, after] = [limitFieldsOf(from), limitFieldsOf(to)];
  const rows = differing(before, after).map((field) => ({
    ...limitRow(subject, to, field),
    from: before.get(field) ?? null,
    to: after.get(field) ?? null,
    effect: limitEffect(field, from, to),
  }));
  if (from.kind === to.kind) return rows;
  // Something else is counted from now on, and what was used of the other counts no more.
  const effect = from.mode === 'enforce' || to.mode === 'enforce' ? 'loosens' : 'neutral';
  return [{ ...limitRow(subject, to, 'unit'), from: from.kind, to: to.kind, effect }, ...rows];
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
): Mode => rolloutStanding(ruleClass, rolloutSubjects(rolloutPlaceOf(subject, directory)), rollouts).mode;
