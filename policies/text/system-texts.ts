import type { CodedReason } from '../reason.ts';
import { variableOfField } from '../variables/compared-value.ts';
import { oneLine, shortened } from './plain-text.ts';
import type { ReasonText } from './reason-text.ts';

const FIELD_CHARACTERS_MAX = 40;
const SHOW_IT = 'show this message to the team that runs CI.';

const FIELD_REMEDIES: ReadonlyMap<string, string> = new Map([
  ['image', 'Name an image in the job.'],
  ['pullPolicies', 'Name a pull policy in the job (image:pull_policy).'],
  ['dockerUser', 'Name a user in the job (image:docker:user).'],
  ['kubernetesUser', 'Name a user in the job (image:kubernetes:user).'],
]);

export const fieldMissing: ReasonText<CodedReason<'FIELD_MISSING'>> = {
  headline: ({ field }) =>
    isVariable(field)
      ? `${fieldName(field)} of this job is not known, and a rule needs it.`
      : `GitLab did not send the job's ${fieldName(field).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}, and a rule needs it.`,
  line: ({ field }) =>
    isVariable(field)
      ? `variable ${fieldName(field)}: not set, not sent, masked, a file, or not a quantity`
      : `${fieldName(field)}: not sent by GitLab`,
  advice: ({ field }) => {
    const remedy = isVariable(field)
      ? `Set the variable ${fieldName(field)} to plain text, not masked and no file.`
      : FIELD_REMEDIES.get(field);
    return remedy === undefined
      ? [`Retrying will fail again: ${SHOW_IT}`]
      : [`Retrying will fail again. ${remedy}`, `If it is there already, ${SHOW_IT}`];
  },
  faultless: true,
};

/** Some fields are variables that the job's author sets, or not. */
const isVariable = (field: string): boolean =>
  field.startsWith('KUBERNETES_') || variableOfField(field) !== undefined;

const fieldName = (field: string): string =>
  shortened(oneLine(variableOfField(field) ?? field), FIELD_CHARACTERS_MAX);

/** The cause is for the log: it names a class of our own code. */
export const controllerError: ReasonText<CodedReason<'CONTROLLER_ERROR'>> = {
  headline: () => 'The system that admits CI jobs failed on this job. The job is not the cause.',
  line: () => 'a rule failed, and it is set to reject jobs when it fails',
  advice: () => [`A retry may work once the system has recovered. If it does not, ${SHOW_IT}`],
  faultless: true,
};
