/** Computes the effect of edits on a set: the document, the changes, and what must be confirmed. Writes nothing. */

import type { Directory } from '../../../policies/directory.ts';
import { parseLimits, STORED } from '../../../policies/document/parse-limits.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Policy } from '../../../policies/policy.ts';
import { compareModes } from '../../../policies/rollout.ts';
import { ROLLOUT_CLASSES } from '../../../policies/rollout-step.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { changeRows, NO_LIMITS, rolledOutMode, subjectPath } from './change-rows.ts';
import { type EditContext, editDocument } from './edit-document.ts';
import type { ChangeRow, LimitEdit, Oversubscription } from './edit-model.ts';
import type { LiveLimits } from './edit-outcomes.ts';
import { type LimitsDocument, parsedLimits } from './limit-set.ts';
import { groupsAbove } from './subject-text.ts';

export interface ReadLimitSet {
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

export type Plan = ReturnType<typeof plan>;

export function plan(
  edits: readonly LimitEdit[],
  before: ReadLimitSet,
  using: {
    readonly deps: { readonly policy: Policy; readonly newId: () => string; readonly zone?: string };
    readonly directory: Directory | undefined;
    readonly by: Omit<EditContext, 'reaches' | 'newId' | 'zone'>;
  },
) {
  const { deps, directory, by } = using;
  const { policy, newId, zone } = deps;
  const { nowMs } = by;
  const edited = editDocument(before.document, edits, {
    ...by,
    ...withoutAbsent({ zone }),
    newId: () => newId().toLowerCase(),
    reaches: (above, subject) => groupsAbove(subject, directory).includes(above),
  });
  if (!edited.ok) return edited;
  const parsed = parseLimits(edited.document, '', policy, directory, STORED);
  if (!parsed.ok) return { ok: false, problems: parsed.problems.map(edited.atEdit) } as const;
  const limits = parsed.value;
  const between = { from: before.limits, to: limits, directory, nowMs };
  const rows = changeRows(between);
  const lockedBefore = selfLockout(policy, before.limits, directory, nowMs);
  return {
    ok: true as const,
    ...{ before, after: { document: edited.document, limits }, between, rows },
    toConfirm: rows.filter((row) => isToConfirm(row) || skipsStep(row, before.limits, limits, directory)),
    /** Only new lockouts. */
    lockout: selfLockout(policy, limits, directory, nowMs).filter((each) => !lockedBefore.includes(each)),
  };
}

export const readDocument = (document: LimitsDocument, set: string, policy: Policy): ReadLimitSet => ({
  document,
  limits: parsedLimits(document, set, policy),
});

export function visibleRows(
  mine: readonly ChangeRow[],
  since: {
    readonly before: ReadLimitSet;
    readonly live: LiveLimits | undefined;
    readonly directory: Directory | undefined;
    readonly nowMs: number;
  },
): readonly ChangeRow[] {
  const subjects = new Set(mine.map(({ subject }) => subject));
  const { before, live, ...rest } = since;
  const all = changeRows({ from: before.limits, to: live?.limits ?? NO_LIMITS, ...rest });
  return all.filter(({ subject }) => subjects.has(subject));
}

/** A typing error of one digit is ten times as much. */
const JUMP = 3;

/**
 * Amounts that become more than three times, or less than a third of, what they were, 0 and `unlimited` included; and
 * modes of limits and rollouts that become milder, after which jobs pass that were rejected.
 */
function isToConfirm({ about, field, from, to, effect, whole }: ChangeRow): boolean {
  // A removed limit is shown as a whole.
  if (effect === 'loosens' && field === 'mode' && (about === 'rollout' || whole === undefined)) return true;
  if (about !== 'limit' || field !== 'amount' || effect === 'neutral' || from === null || to === null)
    return false;
  if (typeof from !== 'number' || typeof to !== 'number') return true;
  return (to === 0 && from !== 0) || to > from * JUMP || to * JUMP < from;
}

/** Rules that go from watching to enforcing without a warning before, or from nothing to a warning. */
function skipsStep(
  { about, field, subject, limit, effect }: ChangeRow,
  from: LimitSet,
  to: LimitSet,
  directory: Directory | undefined,
): boolean {
  const ruleClass = ROLLOUT_CLASSES.find((each) => each === limit);
  if (about !== 'rollout' || field !== 'mode' || effect !== 'tightens' || ruleClass === undefined)
    return false;
  const modeIn = (set: LimitSet): Mode => rolledOutMode(set, subject, ruleClass, directory);
  return compareModes(modeIn(to), modeIn(from)) > 1;
}

const LARGER_MAX = 10;

/**
 * Limits that are given to the groups and projects below more than once: pools. A limit is taken from the closest one
 * above it of the same unit and period. Each limit walks up its own chain once, 20 levels at most.
 */
export function oversubscriptionOf(
  { bySubject }: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): readonly Oversubscription[] {
  const shares = [...bySubject].flatMap(([subject, limits]) => {
    const above = subjectsAbove(subject, directory).flatMap((each) => bySubject.get(each) ?? []);
    const counting = limits.filter((limit) => counts(limit, nowMs));
    return counting.map((limit) => ({ limit, pool: findPool(limit, above, nowMs) }));
  });
  return [...Map.groupBy(shares, ({ pool }) => pool)].flatMap(([pool, below]) => {
    if (pool === undefined || pool.amount === 'unlimited') return [];
    const { subject, id, unit, amount } = pool;
    const children = below.map(({ limit }) => limit);
    const amounts = children.flatMap((child) => (child.amount === 'unlimited' ? [] : child.amount));
    // Ten thousand groups with the largest limits are still shown as many.
    const childrenAmount = amounts.reduce((sum, each) => Math.min(Number.MAX_SAFE_INTEGER, sum + each), 0);
    const larger = children.filter((child) => child.amount === 'unlimited' || child.amount > amount);
    if (childrenAmount <= amount && larger.length === 0) return [];
    return {
      subject,
      ...withoutAbsent({ path: subjectPath(subject, directory) }),
      ...{ limit: id, unit, amount, childrenAmount, children: children.length },
      unlimited: children.length - amounts.length,
      larger: larger
        .slice(0, LARGER_MAX)
        .map((child) => subjectPath(child.subject, directory) ?? child.subject),
    };
  });
}

const counts = (limit: Limit, nowMs: number): boolean =>
  limit.mode !== 'off' && !isCap(limit.subject) && isValidAt(limit, nowMs);

const findPool = ({ kind, per }: Limit, above: readonly Limit[], nowMs: number): Limit | undefined =>
  above.find(
    (each) => each.kind === kind && each.per === per && each.amount !== 'unlimited' && counts(each, nowMs),
  );

/** Closest first; the instance is above every root. */
const subjectsAbove = (subject: string, directory: Directory | undefined): readonly string[] =>
  /^(?:group|project)\//.test(subject) ? [...groupsAbove(subject, directory).toReversed(), 'instance'] : [];

/** Those that rows of these subjects touch: their own, and those of everything above them. */
export function touchedBy(
  all: readonly Oversubscription[],
  subjects: ReadonlySet<string>,
  directory: Directory | undefined,
): readonly Oversubscription[] {
  const touched = new Set([...subjects].flatMap((each) => [each, ...subjectsAbove(each, directory)]));
  return all.filter(({ subject }) => touched.has(subject));
}
