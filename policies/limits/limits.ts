import type { Job } from '../checked-job.ts';
import type { CounterKey, CounterSnapshot } from '../claim.ts';
import type { Directory } from '../directory.ts';
import { memoize, perObject } from '../match/remember.ts';
import type { Wildcard } from '../match/wildcard.ts';
import type { Mode, RuleClass } from '../mode.ts';
import type { PlacedGroup } from '../placement.ts';
import type { LimitKind } from '../unit.ts';
import type { BreakGlass } from './break-glass.ts';
import { CAP_KINDS, capNameOf, capSubject, parseCap } from './cap.ts';
import { type Freeze, grantedAt, grantedWithin, grantsOf, type Limit, shareOf } from './limit.ts';
import { type FiscalStart, type Period, periodAt, validAt } from './period.ts';

export interface Rollout extends Readonly<Partial<Record<RolloutClass, Mode>>> {
  readonly sinceMs?: Readonly<Partial<Record<RolloutClass, number>>>;
  readonly reportedMs?: number;
}

/** Not `security`: its modes live in the policy document alone. */
export type RolloutClass = Exclude<RuleClass, 'security'>;

export interface LimitSet {
  readonly version: string;
  readonly bySubject: ReadonlyMap<string, readonly Limit[]>;
  readonly rollouts: ReadonlyMap<string, Rollout>;
  /** Default limits of personal namespaces; `subject` is empty here. */
  readonly personalDefault: readonly Limit[];
  /** Months of statements begin by it, and of limits that name no other. Absent: the calendar year. */
  readonly fiscalStart?: FiscalStart;
  readonly groupDefaults?: GroupDefaults;
  readonly freezes?: ReadonlyMap<string, readonly Freeze[]>;
  readonly breakGlasses?: readonly BreakGlass[];
}

export const limitPeriod = ({ per, zone, fiscalStart }: Limit, nowMs: number): Period | undefined =>
  per === undefined ? undefined : periodAt(per, zone, nowMs, fiscalStart);

export const counterOf = (limit: Limit, nowMs: number): CounterKey => ({
  subject: limit.subject,
  limit: limit.id,
  period: limitPeriod(limit, nowMs)?.key ?? 'now',
});

/** Base + carried over + active grants. An overdraft takes at most the base: a grant is there to help. */
export function limitAt(limit: Limit, nowMs: number): Limit {
  const { amount: base, opening } = limit;
  const grants = grantsOf(limit);
  if (base === 'unlimited' || (grants.length === 0 && opening === undefined)) return limit;
  const carried = opening?.period === limitPeriod(limit, nowMs)?.key ? (opening?.carried ?? 0) : 0;
  const amount = Math.max(0, base + carried) + grantedAt(grants, nowMs);
  if (amount === base) return limit;
  const inForce = withAmount(limit, base, amount);
  return carried < 0 ? { ...inForce, overdrawn: -carried } : inForce;
}

function withAmount(limit: Limit, base: number, amount: number): Limit {
  const { softAmount: soft, graceAmount: grace, softShare, graceShare, ...rest } = limit;
  const softAmount = softShare === undefined ? soft : shareOf(amount, softShare);
  const graceUnits = graceShare === undefined ? grace && grace - base : shareOf(amount, graceShare);
  return {
    ...rest,
    amount,
    ...(softAmount !== undefined && softAmount > 0 && softAmount < amount && { softAmount }),
    ...(graceUnits !== undefined && graceUnits > 0 && { graceAmount: amount + graceUnits }),
  };
}

const NONE: readonly Limit[] = [];

export const limitsOn = (limits: LimitSet, subject: string): readonly Limit[] =>
  limits.bySubject.get(subject) ?? NONE;

export const defaultsOf = (
  { personalDefault, groupDefaults }: LimitSet,
  { path, personal }: Omit<Group, 'id'>,
): readonly Limit[] =>
  personal ? personalDefault : path === undefined ? NONE : (groupDefaults?.at(path) ?? NONE);

/** A group's own limits, and the default ones of the kinds it has none of: not even `unlimited`. */
export function withDefaults(
  own: readonly Limit[],
  defaults: readonly Limit[],
  subject: string,
): readonly Limit[] {
  if (defaults.length === 0) return own;
  const inherited = defaults
    .filter((limit) => !own.some((each) => each.kind === limit.kind))
    .map((limit) => ({ ...limit, subject }));
  return inherited.length === 0 ? own : [...own, ...inherited];
}

export interface SubjectLimits {
  /** For people. Computed on demand, because most jobs meet no limit. */
  readonly label: () => string;
  readonly limits: readonly Limit[];
  readonly missing?: string;
}

interface JobSubject {
  readonly subject: string;
  readonly label: () => string;
  readonly group?: Group | undefined;
}

export function subjectLimitsOf(job: Job, set: LimitSet): readonly SubjectLimits[] {
  const levels: SubjectLimits[] = [];
  for (const { subject, label, group } of subjectsOf(job)) {
    const limits =
      group === undefined ? validAt(limitsOn(set, subject), job.nowMs) : limitsOfGroup(set, group, job.nowMs);
    if (limits.length > 0) levels.push({ label, limits });
  }
  const caps = capsByPlace(set);
  return caps.size === 0 ? levels : [...levels, ...cappedLevels(job, set, caps)];
}

const capsByPlace = perObject((set: LimitSet) => {
  const caps = [...set.bySubject.keys()].flatMap((subject) => parseCap(subject) ?? []);
  return Map.groupBy(caps, ({ place }) => place);
});

function cappedLevels(
  job: Job,
  set: LimitSet,
  caps: ReturnType<typeof capsByPlace>,
): readonly SubjectLimits[] {
  const { request, placement } = job;
  return subjectsOf(job).flatMap(({ subject: place, label: placeLabel }) => {
    const here = caps.get(place);
    if (here === undefined) return [];
    return CAP_KINDS.filter((kind) => here.some((cap) => cap.kind === kind)).flatMap(
      (kind): SubjectLimits[] => {
        const written = validAt(limitsOn(set, capSubject(place, kind)), job.nowMs);
        const limits = kind === 'user' && place === 'instance' ? withoutOwn(written, set, job) : written;
        const found = limits.length === 0 ? undefined : capNameOf(kind, request, placement);
        if (found === undefined) return [];
        if (found.missing !== undefined) return [{ label: placeLabel, limits, missing: found.missing }];
        const subject = `${capSubject(place, kind)}/${found.name}`;
        const label = (): string => `${found.label} in ${placeLabel()}`;
        return [{ label, limits: limits.map((limit) => ({ ...limit, subject })) }];
      },
    );
  });
}

function withoutOwn(defaults: readonly Limit[], set: LimitSet, { placement, nowMs }: Job): readonly Limit[] {
  if (placement.userId === undefined) return defaults;
  const own = validAt(limitsOn(set, subjectKey({ kind: 'user', id: placement.userId })), nowMs);
  return defaults.filter(({ kind }) => !own.some((each) => each.kind === kind));
}

export function subjectsOf({ request, placement, runnerClass }: Job): readonly JobSubject[] {
  const subjects: JobSubject[] = [];
  const add = (subject: string, label: () => string, group?: Group): void => {
    subjects.push({ subject, label, group });
  };
  const { ancestors, personal, projectId, projectPath, userId } = placement;
  add('instance', () => 'the whole GitLab');
  for (const group of ancestors) {
    const label = (): string => `${personal ? 'personal namespace' : 'group'} ${group.path ?? group.id}`;
    add(subjectKey({ kind: 'group', id: group.id }), label, { ...group, personal });
  }
  if (projectId !== undefined)
    add(subjectKey({ kind: 'project', id: projectId }), () => `project ${projectPath ?? projectId}`);
  const { name } = runnerClass;
  add(subjectKey({ kind: 'runner-class', name }), () => `runner class ${name}`);
  const { runnerId } = request;
  if (runnerId !== undefined) add(subjectKey({ kind: 'runner', id: runnerId }), () => `runner ${runnerId}`);
  if (userId !== undefined) add(subjectKey({ kind: 'user', id: userId }), () => `user ${userId}`);
  return subjects;
}

type Group = PlacedGroup & { readonly personal: boolean };

export function limitsOfGroup(set: LimitSet, group: Group, nowMs: number): readonly Limit[] {
  const subject = subjectKey({ kind: 'group', id: group.id });
  const own = validAt(limitsOn(set, subject), nowMs);
  return withDefaults(own, validAt(defaultsOf(set, group), nowMs), subject);
}

type Subject =
  | { readonly kind: 'instance' }
  | { readonly kind: 'group' | 'project' | 'runner' | 'user'; readonly id: number }
  | { readonly kind: 'runner-class'; readonly name: string };

/** One word per subject, used in counter keys, logs and index look-ups: `instance`, `group/101`, `runner-class/large`. */
export function subjectKey(subject: Subject): string {
  if (subject.kind === 'instance') return subject.kind;
  return `${subject.kind}/${'id' in subject ? subject.id : subject.name}`;
}

/** The limit that a counter counts for, as written. Undefined: there is none (any more). */
export function limitOfCounter(
  { subject, limit: id }: Pick<CounterKey, 'subject' | 'limit'>,
  limits: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): Limit | undefined {
  const own = limitsOn(limits, subject).find((limit) => limit.id === id);
  if (own !== undefined) return own;
  const cap = parseCap(subject);
  if (cap !== undefined) {
    const limit = limitsOn(limits, capSubject(cap.place, cap.kind)).find((each) => each.id === id);
    return limit && { ...limit, subject };
  }
  const [kind, name] = subject.split('/');
  const group = kind === 'group' ? directory?.groupById.get(Number(name)) : undefined;
  return group && limitsOfGroup(limits, group, nowMs).find((limit) => limit.id === id);
}

export interface PatternDefault {
  readonly groups: Wildcard;
  readonly limit: Limit;
}

interface GroupDefaults {
  readonly all: readonly PatternDefault[];
  /** Those for a group at this full path: the ones of each kind from the first pattern that matches. */
  readonly at: (path: string) => readonly Limit[];
}

export const groupDefaultsOf = (all: readonly PatternDefault[]): GroupDefaults => ({
  all,
  at: memoize((path) => defaultsAt(all, path)),
});

function defaultsAt(all: readonly PatternDefault[], path: string): readonly Limit[] {
  const patternByKind = new Map<LimitKind, string>();
  const limits: Limit[] = [];
  for (const { groups, limit } of all) {
    const first = patternByKind.get(limit.kind);
    if (first === undefined ? !groups.matches(path) : first !== groups.pattern) continue;
    patternByKind.set(limit.kind, groups.pattern);
    limits.push(limit);
  }
  return limits;
}

export function mostDefaults({ all }: GroupDefaults): number {
  const counted = all.filter(({ limit }) => limit.mode !== 'off' && limit.amount !== 'unlimited');
  return [...Map.groupBy(counted, ({ limit }) => limit.kind).values()].reduce((sum, ofKind) => {
    const byPattern = Map.groupBy(ofKind, ({ groups }) => groups.pattern);
    return sum + Math.max(...[...byPattern.values()].map(({ length }) => length));
  }, 0);
}

export const carriesOver = ({ amount, carryMax, overdraft }: Limit): boolean =>
  amount !== 'unlimited' && (carryMax !== undefined || overdraft === 'carry');

/**
 * Returns the amount carried into the period open at `nowMs`, in whole units; negative for an overdraft.
 *
 * It counts only certain amounts: held amounts are not left over, and only settled amounts are overdrawn. A
 * grant that has ended leaves nothing, but its use is not overdrawn. The base is today's.
 */
export function carriedInto(
  limit: Limit,
  nowMs: number,
  end: CounterSnapshot & { readonly carried: number },
): number {
  const { amount: base, carryMax = 0, overdraft } = limit;
  const grants = grantsOf(limit);
  const period = limitPeriod(limit, nowMs);
  if (base === 'unlimited' || period === undefined || !Number.isFinite(period.startMs)) return 0;
  const before = limitPeriod(limit, period.startMs - 1);
  if (before === undefined) return 0;
  const own = Math.max(0, base + end.carried);
  const overdrawn = end.settled - own - grantedWithin(grants, before.startMs, before.endMs);
  if (overdrawn > 0) return overdraft === 'carry' ? -overdrawn : 0;
  const left = own + grantedAt(grants, before.endMs - 1) - end.committed;
  return Math.max(0, Math.min(left, carryMax));
}
