import { capSubject, isCap } from '../../../../policies/limits/cap.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import {
  defaultsOf,
  type LimitSet,
  limitsOn,
  type RolloutClass,
} from '../../../../policies/limits/limits.ts';
import type { Mode } from '../../../../policies/mode.ts';
import type { Directory } from '../../../../policies/place/directory.ts';
import { rolloutPlaceOf, rolloutSubjects } from '../../../../policies/rollout.ts';
import { ROLLOUT_CLASSES, rolloutStanding } from '../../../../policies/rollout-step.ts';
import type { ChangeRow, Effect, FieldValue } from './change-row.ts';
import { binds, differing, limitEffect, limitReachOf, modeEffect } from './effects.ts';
import { edgeZone, limitFields } from './fields.ts';

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
  return [...limitFields(limit)].map(([field, value]) => ({
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
  const [before, after] = [limitFields(from), limitFields(to)];
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
