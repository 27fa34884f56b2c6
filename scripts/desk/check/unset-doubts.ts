import { isKnownImage } from '../../../policies/images/image-judge.ts';
import type { Violation } from '../../../policies/reason.ts';
import { fieldOfVariable } from '../../../policies/variables/compared-value.ts';
import type { UnsetVariables } from '../../pipeline/unset-variables.ts';

/**
 * The variables that a violation hangs on because nothing known here sets them, each as a field of the request. `[]`: the
 * violation is certain, whatever GitLab's settings hold.
 */
export function doubtsAbout({ reason }: Violation, unset: UnsetVariables): readonly string[] {
  switch (reason.code) {
    case 'IMAGE_NOT_ALLOWED':
    case 'TAG_NOT_ALLOWED':
      return isKnownImage(reason.image) ? [] : doubtsIn(reason.service ? 'services' : 'image', unset);
    case 'CONTAINER_USER_NOT_ALLOWED':
      return reason.asked.includes('$')
        ? doubtsIn(reason.service === undefined ? 'image' : 'services', unset)
        : [];
    case 'FIELD_MISSING':
      return doubtsIn(reason.field, unset);
    default:
      return [];
  }
}

/** The variables that would tell a field which a rule calls missing although the file has it. */
export const doubtsIn = (field: string, unset: UnsetVariables): readonly string[] =>
  field === 'image' || field === 'services' || field === 'tags'
    ? (unset[field] ?? []).map(fieldOfVariable)
    : [];
