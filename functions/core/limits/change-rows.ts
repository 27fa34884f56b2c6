/** Everything that differs between two sets of limits, row by row, in the order of the later one. */

import { capSubject, isCap } from '../../../policies/limits/cap.ts';
import type { Grant, Limit } from '../../../policies/limits/limit.ts';
import { defaultsOf, type LimitSet, limitsOn, type RolloutClass } from '../../../policies/limits/limits.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { rolloutPlaceOf, rolloutSubjects } from '../../../policies/rollout.ts';
import { ROLLOUT_CLASSES, rolloutStanding } from '../../../policies/rollout-step.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  binds,
  breakGlassEffect,
  breakGlassFields,
  type ChangeRow,
  type ChangeTopic,
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
  /** Provides paths of subjects, and the groups of defaults. */
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
    return earlier === later
      ? []
      : [...limitRowsOf(place, earlier, later, between), ...grantRows(place, earlier, later, nowMs)];
  });
  const all = [
    ...rows,
    ...orderRow('group_defaults', patternNames, from, to),
    ...orderRow('breakglass', ({ breakGlasses = [] }) => breakGlasses.map(({ id }) => id), from, to),
    ...freezeRows(from, to, nowMs),
    ...breakGlassRows(from, to, nowMs),
    ...rolloutRows(from, to, directory),
  ];
  return all.map((row) => {
    const path = subjectPath(row.subject, directory);
    return path === undefined ? row : { ...row, path };
  });
}

/** An entry other than a limit that was added, removed or changed. */
interface Thing {
  readonly about: ChangeTopic;
  readonly subject: string;
  readonly limit: string;
  readonly id?: string;
  readonly unit?: ChangeRow['unit'];
  /** IANA zone of its edges. */
  readonly zone: string;
  readonly fields: Fields;
  /** The field that stands for all of it. */
  readonly main: string;
  readonly over: boolean;
}

function grantRows(
  subject: string,
  before: readonly Limit[],
  after: readonly Limit[],
  nowMs: number,
): readonly ChangeRow[] {
  const things = (limits: readonly Limit[]): ReadonlyMap<string, Thing> => {
    const named = new Map<string, Thing>();
    for (const limit of limits) {
      for (const grant of limit.grants ?? []) {
        const name = grantName(limit, grant);
        let free = name;
        // An entry given twice in the same words is there twice.
        for (let times = 2; named.has(free); times += 1) free = `${name} ${times}`;
        named.set(free, grantThing(subject, limit, grant, nowMs));
      }
    }
    return named;
  };
  return rowsBetween(things(before), things(after), { added: 'loosens', of: grantEffect });
}

/** Entries without an id are compared by content. */
const grantName = ({ id: limit }: Limit, grant: Grant): string =>
  grant.id ?? JSON.stringify([limit, grant.amount, grant.fromMs, grant.untilMs, grant.reason, grant.ticket]);

const grantThing = (subject: string, limit: Limit, grant: Grant, nowMs: number): Thing => ({
  about: 'grant',
  subject,
  limit: limit.id,
  ...(grant.id !== undefined && { id: grant.id }),
  unit: limit.unit,
  zone: limit.zone,
  fields: grantFields(grant),
  main: 'amount',
  over: grant.untilMs <= nowMs,
});

function freezeRows(from: LimitSet, to: LimitSet, nowMs: number): readonly ChangeRow[] {
  const things = ({ freezes }: LimitSet): ReadonlyMap<string, Thing> =>
    new Map(
      [...(freezes?.values() ?? [])].flat().map((freeze) => [
        `${freeze.subject} ${freeze.id}`,
        {
          about: 'freeze',
          subject: freeze.subject,
          limit: freeze.id,
          zone: freeze.zone,
          fields: freezeFields(freeze),
          main: 'until',
          over: freeze.untilMs !== undefined && freeze.untilMs <= nowMs,
        },
      ]),
    );
  return rowsBetween(things(from), things(to), { added: 'tightens', of: freezeEffect });
}

function breakGlassRows(from: LimitSet, to: LimitSet, nowMs: number): readonly ChangeRow[] {
  const things = ({ breakGlasses = [] }: LimitSet): ReadonlyMap<string, Thing> =>
    new Map(
      breakGlasses.map((glass) => [
        `${glass.subject} ${glass.id}`,
        {
          about: 'breakglass',
          subject: glass.subject,
          limit: glass.id,
          zone: glass.zone ?? 'UTC',
          fields: breakGlassFields(glass),
          main: 'jobs',
          over: glass.untilMs <= nowMs,
        },
      ]),
    );
  return rowsBetween(things(from), things(to), { added: 'loosens', of: breakGlassEffect });
}

function rowsBetween(
  before: ReadonlyMap<string, Thing>,
  after: ReadonlyMap<string, Thing>,
  effects: {
    readonly added: Exclude<Effect, 'neutral'>;
    readonly of: (field: string, from: FieldValue, to: FieldValue) => Effect;
  },
): readonly ChangeRow[] {
  const gone = [...before].filter(([name]) => !after.has(name));
  const removed = effects.added === 'loosens' ? 'tightens' : 'loosens';
  return [
    ...gone.flatMap(([, thing]) => wholeRows(thing, 'removed', removed)),
    ...[...after].flatMap(([name, thing]) => {
      const earlier = before.get(name);
      if (earlier === undefined) return wholeRows(thing, 'added', effects.added);
      return differing(earlier.fields, thing.fields).map((field): ChangeRow => {
        const [from, to] = [earlier.fields.get(field) ?? null, thing.fields.get(field) ?? null];
        const over = earlier.over && thing.over;
        return {
          ...rowOf(thing, field),
          field,
          from,
          to,
          effect: over ? 'neutral' : effects.of(field, from, to),
        };
      });
    }),
  ];
}

const rowOf = ({ about, subject, limit, id, unit, zone }: Thing, field: string) => ({
  about,
  subject,
  limit,
  ...withoutAbsent({ id, unit }),
  ...edgeZone(field, zone),
});

function wholeRows(thing: Thing, whole: 'added' | 'removed', effect: Effect): readonly ChangeRow[] {
  return [...thing.fields].map(([field, value]) => ({
    ...rowOf(thing, field),
    field,
    from: whole === 'added' ? null : value,
    to: whole === 'added' ? value : null,
    // Expired entries have no effect.
    effect: field === thing.main && !thing.over ? effect : 'neutral',
    whole,
  }));
}

const patternNames = ({ groupDefaults }: LimitSet): readonly string[] =>
  groupDefaults?.all.map(({ groups, limit }) => `${groups.pattern} ${limit.id}`) ?? [];

/** The first pattern that matches a group counts, and the first glass that a job may use. */
function orderRow(
  list: string,
  names: (set: LimitSet) => readonly string[],
  from: LimitSet,
  to: LimitSet,
): readonly ChangeRow[] {
  const [before, after] = [names(from), names(to)];
  const [there, still] = [new Set(before), new Set(after)];
  const earlier = before.filter((name) => still.has(name)).join(', ');
  const later = after.filter((name) => there.has(name)).join(', ');
  if (earlier === later) return [];
  return [
    {
      about: 'document',
      subject: 'instance',
      limit: list,
      field: 'order',
      from: earlier,
      to: later,
      effect: 'loosens',
    },
  ];
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

/** The limits of one place that came, went or changed. */
export function limitRowsOf(
  place: string,
  before: readonly Limit[],
  after: readonly Limit[],
  sets: { readonly from: LimitSet; readonly to: LimitSet; readonly directory: Directory | undefined },
): readonly ChangeRow[] {
  const gone = before
    .filter(({ id }) => !after.some((each) => each.id === id))
    .flatMap((limit) => {
      const instead = defaultsInstead(place, limit, sets.to, sets.directory);
      // Removing a limit may restore a default.
      const effect =
        !binds(limit) && !instead.some(binds) ? 'neutral' : tighter(instead, limit) ? 'tightens' : 'loosens';
      return whole(place, limit, 'removed', effect);
    });
  const there = after.flatMap((limit): readonly ChangeRow[] => {
    const earlier = before.find(({ id }) => id === limit.id);
    if (earlier !== undefined) return changed(place, earlier, limit);
    const instead = defaultsInstead(place, limit, sets.from, sets.directory);
    if (place.startsWith('groups/')) return whole(place, limit, 'added', addedPattern(limit, sets.from));
    const loosens = instead.some(binds) && !tighter([limit], ...instead);
    return whole(place, limit, 'added', loosens ? 'loosens' : binds(limit) ? 'tightens' : 'neutral');
  });
  return [...gone, ...there];
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

/** Returns true if one of these limits is at least as strict as all others. */
const tighter = (ones: readonly Limit[], ...others: readonly Limit[]): boolean =>
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
    ) && ones.some(binds);

/** A pattern may take groups away from one that stands after it. */
const addedPattern = (limit: Limit, { groupDefaults }: LimitSet): Effect =>
  groupDefaults?.all.some((other) => other.limit.kind === limit.kind && binds(other.limit))
    ? 'loosens'
    : binds(limit)
      ? 'tightens'
      : 'neutral';

function whole(
  subject: string,
  limit: Limit,
  what: 'added' | 'removed',
  effect: Effect,
): readonly ChangeRow[] {
  return [...limitFieldsOf(limit)].map(([field, value]) => ({
    about: 'limit',
    subject,
    limit: limit.id,
    field,
    from: what === 'added' ? null : value,
    to: what === 'added' ? value : null,
    unit: limit.unit,
    ...edgeZone(field, limit.zone),
    effect: field === 'amount' ? effect : 'neutral',
    whole: what,
  }));
}

function changed(subject: string, from: Limit, to: Limit): readonly ChangeRow[] {
  const [before, after] = [limitFieldsOf(from), limitFieldsOf(to)];
  const row = (field: string, was: FieldValue, is: FieldValue, effect: Effect): ChangeRow => ({
    about: 'limit',
    subject,
    limit: to.id,
    field,
    from: was,
    to: is,
    unit: to.unit,
    ...edgeZone(field, to.zone),
    effect,
  });
  // The unit is the name of the amount's field.
  const kind = from.kind === to.kind ? [] : [row('unit', from.kind, to.kind, kindEffect(from, to))];
  const rows = differing(before, after).map((field) =>
    row(field, before.get(field) ?? null, after.get(field) ?? null, limitEffect(field, from, to)),
  );
  return [...kind, ...rows];
}

/** Something else is counted from now on, and what was used of the other counts no more. */
const kindEffect = (from: Limit, to: Limit): Effect =>
  from.mode === 'enforce' || to.mode === 'enforce' ? 'loosens' : 'neutral';

/** A subject without an entry inherits, so a change is computed from both effective modes. */
export function rolloutRows(
  from: LimitSet,
  to: LimitSet,
  directory: Directory | undefined,
): readonly ChangeRow[] {
  const subjects = [...new Set([...to.rollouts.keys(), ...from.rollouts.keys()])];
  return subjects.flatMap((subject) => {
    const [before, after] = [from.rollouts.get(subject), to.rollouts.get(subject)];
    const modes = ROLLOUT_CLASSES.flatMap((ruleClass): readonly ChangeRow[] => {
      if (before?.[ruleClass] === after?.[ruleClass]) return [];
      const effective = (set: LimitSet): Mode => rolledOutMode(set, subject, ruleClass, directory);
      return [
        {
          about: 'rollout',
          subject,
          limit: ruleClass,
          field: 'mode',
          from: before?.[ruleClass] ?? null,
          to: after?.[ruleClass] ?? null,
          effect: modeEffect(effective(from), effective(to)),
        },
      ];
    });
    if (before?.reportedMs === after?.reportedMs) return modes;
    const [was, is] = [before, after].map((each) =>
      each?.reportedMs === undefined ? null : new Date(each.reportedMs).toISOString(),
    );
    const reported = {
      about: 'rollout',
      subject,
      limit: 'report',
      field: 'sent',
      effect: 'neutral',
    } as const;
    return [...modes, { ...reported, from: was ?? null, to: is ?? null }];
  });
}

/** Returns the effective mode of a class for jobs of a subject. */
export function rolledOutMode(
  { rollouts }: LimitSet,
  subject: string,
  ruleClass: RolloutClass,
  directory: Directory | undefined,
): Mode {
  return rolloutStanding(ruleClass, rolloutSubjects(rolloutPlaceOf(subject, directory)), rollouts).mode;
}
