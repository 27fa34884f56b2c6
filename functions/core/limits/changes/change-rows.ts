/** Everything that differs between two sets of limits, row by row, in the order of the later one. */
import type { Grant, Limit } from '../../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { Directory } from '../../../../policies/place/directory.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { ChangeRow, ChangeTopic, Effect, Fields, FieldValue } from './change-row.ts';
import { breakGlassEffect, differing, freezeEffect, grantEffect } from './effects.ts';
import { breakGlassFields, edgeZone, freezeFields, grantFields, subjectPath } from './fields.ts';
import { limitRowsOf, limitsByPlace, rolloutRows } from './limit-rows-between.ts';

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
