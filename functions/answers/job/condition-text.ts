import type { CheckedJob } from '../../../policies/checked-job.ts';
import { NO_CLASS } from '../../../policies/prices/price.ts';

/** `runnerClasses` → `runner_classes`, as the policy document spells it; `not.` stays in front. */
export const conditionKey = (condition: string): string =>
  condition.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What the job has where a condition looks, for people; `undefined` if it is not known. Never a variable's value. */
export function valueCompared(
  condition: string,
  { request, placement, runnerClass, unclassed }: CheckedJob,
): string | undefined {
  switch (condition.replace(/^not\./, '')) {
    case 'groups':
      return placement.groupPath ?? text(placement.groupId);
    case 'projects':
      return placement.projectPath ?? text(placement.projectId);
    case 'runnerClasses':
      return unclassed ? `${NO_CLASS}, taken as ${runnerClass.name}` : runnerClass.name;
    case 'runnerTags':
      return tagsText(request.runnerTags ?? request.jobTags);
    case 'runnerIds':
      return text(request.runnerId);
    case 'users':
      return text(placement.userId);
    case 'refs':
      return request.ref;
    case 'protected':
      return request.refProtected === undefined ? undefined : request.refProtected ? 'yes' : 'no';
    case 'sources':
      return request.pipelineSource;
    case 'environments':
      return request.environment ?? 'none';
    case 'jobs':
      return request.jobName;
    default:
      return undefined;
  }
}

const text = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

const tagsText = (tags: readonly string[] | undefined): string | undefined =>
  tags === undefined ? undefined : tags.length === 0 ? 'none' : tags.join(', ');
