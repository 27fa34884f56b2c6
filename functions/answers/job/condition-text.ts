import type { CheckedJob } from '../../../policies/checked-job.ts';
import { CONDITION_FIELDS, type Conditions } from '../../../policies/match/conditions.ts';
import { NO_CLASS } from '../../../policies/prices/price.ts';

/** `runnerClasses` → `runner_classes`, as the policy document spells it; `not.` stays in front. */
export const conditionKey = (condition: string): string =>
  condition.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the job's value for a condition, for people; undefined if unknown. Never a variable's value. */
export function valueCompared(
  condition: string,
  { request, placement, runnerClass, unclassed }: CheckedJob,
): string | undefined {
  const name = condition.replace(/^not\./, '') as keyof Conditions;
  switch (name) {
    case 'groups':
      return placement.groupPath ?? text(placement.groupId);
    case 'projects':
      return placement.projectPath ?? text(placement.projectId);
    case 'runnerClasses':
      return unclassed ? `${NO_CLASS}, taken as ${runnerClass.name}` : runnerClass.name;
    case 'runnerTags':
      return tagsText(request.runnerTags ?? request.jobTags);
    case 'users':
      return text(placement.userId);
    case 'protected':
      return request.refProtected === undefined ? undefined : request.refProtected ? 'yes' : 'no';
    case 'environments':
      return request.environment ?? 'none';
    case 'variables':
      return undefined;
    default:
      return text(request[CONDITION_FIELDS[name]]);
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;

const tagsText = (tags: readonly string[] | undefined): string | undefined =>
  tags === undefined ? undefined : tags.length === 0 ? 'none' : tags.join(', ');
