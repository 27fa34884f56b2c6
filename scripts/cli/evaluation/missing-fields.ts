import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { variableOfField } from '../../../policies/variables/compared-value.ts';

/** The flag that sets a field, for `cannot tell: needs …`. */
const FLAGS: Readonly<Record<string, string>> = {
  projectId: '--project',
  projectPath: '--project',
  namespaceId: '--project or --group',
  ref: '--ref',
  refProtected: '--protected or --unprotected',
  pipelineSource: '--source',
  userId: '--user',
  timeoutSeconds: '--timeout',
};

/** Fields a pipeline's file decides: where it says nothing there is nothing, and `on_missing` counts. */
const IN_THE_FILE: ReadonlySet<string> = new Set<keyof AdmissionRequest>([
  'jobName',
  'jobStage',
  'environment',
  'image',
  'pullPolicies',
  'dockerUser',
  'kubernetesUser',
  'services',
  'jobTags',
]);

/** Returns true if only GitLab or a flag provides it: without it a check is incomplete. */
export const isToldByGitLab = (field: string): boolean => !IN_THE_FILE.has(field.replace(/[.[].*$/, ''));

/** `needs userId (--user)`. */
export const needsText = (fields: readonly string[]): string => `needs ${fields.map(fieldText).join(', ')}`;

function fieldText(field: string): string {
  const variable = variableOfField(field);
  if (variable !== undefined) return `variable ${variable}`;
  return FLAGS[field] === undefined ? field : `${field} (${FLAGS[field]})`;
}
