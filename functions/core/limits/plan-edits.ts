/** Computes the effect of edits on a set: the document, the changes, and what must be confirmed. Writes nothing. */

import type { Directory } from '../../../policies/directory.ts';
import { parseLimits, parseLimitsPart } from '../../../policies/document/parse-limits.ts';
import { type DocumentProblem, problemText } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Policy } from '../../../policies/policy.ts';
import { compareModes } from '../../../policies/rollout.ts';
import { ROLLOUT_CLASSES } from '../../../policies/rollout-step.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { changeRows, NO_LIMITS, rolledOutMode } from './change-rows.ts';
import { editDocument } from './edit-document.ts';
import type { EditContext } from './edit-draft.ts';
import type { LimitEdit, LiveLimits } from './edit-model.ts';
import type { ChangeRow } from './limit-changes.ts';
import type { LimitsDocument } from './limit-set.ts';
import { LimitsError } from './limit-table.ts';
import { groupsAround } from './subject-text.ts';

/** A set or the packed limits: the document, and its parsed form. */
export interface ReadLimitSet {
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

export type Plan =
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] }
  | {
      readonly ok: true;
      readonly before: ReadLimitSet;
      readonly after: ReadLimitSet;
      readonly rows: readonly ChangeRow[];
      readonly toConfirm: readonly ChangeRow[];
      /** Only new lockouts. */
      readonly lockout: readonly string[];
    };

export function plan(
  edits: readonly LimitEdit[],
  before: ReadLimitSet,
  using: {
    readonly policy: Policy;
    readonly directory: Directory | undefined;
    readonly context: Omit<EditContext, 'reaches'>;
  },
): Plan {
  const { policy, directory, context } = using;
  const { nowMs } = context;
  const edited = editDocument(before.document, edits, {
    ...context,
    // Unknown groups are below no group.
    reaches: (above, subject) => groupsAround(subject, directory).some(({ id }) => `group/${id}` === above),
  });
  if (!edited.ok) return edited;
  const parsed = parseLimits(edited.document, '', policy, directory);
  if (!parsed.ok) return { ok: false, problems: parsed.problems.map(edited.told) };
  const limits = parsed.value;
  const rows = changeRows({ from: before.limits, to: limits, directory, nowMs });
  const lockedBefore = selfLockout(policy, before.limits, directory, nowMs);
  return {
    ok: true,
    before,
    after: { document: edited.document, limits },
    rows,
    toConfirm: rows.filter((row) => isToConfirm(row) || skipsStep(row, before.limits, limits, directory)),
    lockout: selfLockout(policy, limits, directory, nowMs).filter((each) => !lockedBefore.includes(each)),
  };
}

/** @throws {LimitsError} `limits_unreadable`: the policy has changed since. */
export function readDocument(document: LimitsDocument, set: string, policy: Policy): ReadLimitSet {
  const parsed = parseLimitsPart(document, set, policy);
  if (parsed.ok) return { document, limits: parsed.value };
  const problems = parsed.problems.map(problemText).join('; ');
  throw new LimitsError('limits_unreadable', `set ${set}: no longer fits the policy: ${problems}`);
}

/** Returns later changes by others to the same subjects. */
export function visibleRows(
  mine: readonly ChangeRow[],
  since: {
    /** The outdated base of the edits. */
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
