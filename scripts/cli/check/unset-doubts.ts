import { isKnownImage } from '../../../policies/images/image-judge.ts';
import type { Violation } from '../../../policies/reason.ts';
import { fieldOfVariable } from '../../../policies/variables/compared-value.ts';
import type { ExpandedJob } from '../pipeline/expanded-job.ts';
import type { UnsetVariables } from '../pipeline/unset-variables.ts';
import { unsetNames } from '../pipeline/variables.ts';

/**
 * Lists unset variables that a violation depends on, each as a request field. `[]`: the violation is
 * certain.
 */
export function doubtsAbout({ reason }: Violation, job: ExpandedJob): readonly string[] {
  const unset = job.unsetVariables ?? {};
  switch (reason.code) {
    case 'IMAGE_NOT_ALLOWED':
    case 'TAG_NOT_ALLOWED':
      return isKnownImage(reason.image) ? [] : doubtsIn(reason.service ? 'services' : 'image', unset);
    case 'CONTAINER_USER_NOT_ALLOWED':
      return reason.asked.includes('$')
        ? doubtsIn(reason.service === undefined ? 'image' : 'services', unset)
        : [];
    case 'RESOURCE_CAP':
    case 'RESOURCE_INVALID':
      return doubtsInValue(reason.variable, reason.service, job);
    case 'OVERWRITE_NOT_ALLOWED':
      return reason.why === 'pattern' ? doubtsInValue(reason.variable, undefined, job) : [];
    case 'FIELD_MISSING':
      return doubtsIn(reason.field, unset);
    default:
      return [];
  }
}

/** Lists variables that would decide a field that a rule reports missing although the file has it. */
export const doubtsIn = (field: string, unset: UnsetVariables): readonly string[] =>
  field === 'image' || field === 'services' || field === 'tags'
    ? (unset[field] ?? []).map(fieldOfVariable)
    : [];

/** The same for values of variables of the job or its services. */
function doubtsInValue(variable: string, service: string | undefined, job: ExpandedJob): readonly string[] {
  const raw = new Set(job.rawVariables);
  const variables =
    service === undefined ? job.variables : job.services.find(({ name }) => name === service)?.variables;
  const value = variables?.[variable];
  if (value === undefined || (service === undefined && raw.has(variable))) return [];
  return unsetNames(value, job.variables, raw).map(fieldOfVariable);
}
