/** When each step of a rollout began: written into the document as it becomes live, whichever way it came. */
import { isRecord } from '../../../policies/document/reading.ts';
import type { LimitSet, RolloutClass } from '../../../policies/limits/limits.ts';
import { ROLLOUT_CLASSES } from '../../../policies/rollout-step.ts';
import type { LimitsDocument } from './limit-set.ts';

/** Returns the subject of a rollout entry. */
export const rolledOutSubject = ({ instance, group, project }: LimitsDocument): string =>
  instance === true ? 'instance' : project === undefined ? `group/${group}` : `project/${project}`;

/** A mode that is another one begins at `atMs`; what stays as it was goes on, also where a file leaves the time out. */
export function withRolloutTimes(
  document: LimitsDocument,
  { rollouts }: Pick<LimitSet, 'rollouts'>,
  atMs: number,
): LimitsDocument {
  const { rollout } = document;
  if (!Array.isArray(rollout) || rollout.length === 0) return document;
  const timed = (entry: LimitsDocument): LimitsDocument => {
    const before = rollouts.get(rolledOutSubject(entry));
    const next: Record<string, unknown> = { ...entry };
    for (const ruleClass of ROLLOUT_CLASSES) {
      const field = sinceField(ruleClass);
      if (entry[ruleClass] === undefined) delete next[field];
      else if (entry[ruleClass] !== before?.[ruleClass]) next[field] = writtenSecond(atMs);
      else if (before?.sinceMs?.[ruleClass] !== undefined)
        next[field] = writtenSecond(before.sinceMs[ruleClass]);
    }
    return next;
  };
  return { ...document, rollout: rollout.map((entry) => (isRecord(entry) ? timed(entry) : entry)) };
}

const sinceField = (ruleClass: RolloutClass): string => `${ruleClass}_since`;

/** `2026-11-21T12:00:00Z`, as all instants in a limits document. */
export const writtenSecond = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
