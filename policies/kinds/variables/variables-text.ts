import { listText, oneLine, shortened } from '../../text/plain-text.ts';
import type { AdviceContext, ReasonText } from '../../text/reason-text.ts';

export interface VariableReason {
  readonly code: 'VARIABLE_NOT_ALLOWED';
  /** Its value is not told. */
  readonly variable: string;
  /** `required`: not set. `pattern`: matches none of `allowed`. `denied`: must not be what it is. */
  readonly why: 'required' | 'pattern' | 'denied';
  readonly allowed?: readonly string[];
}

const NAME_CHARACTERS_MAX = 60;

/** A variable that is not set, or not to what it may be. Its value is not told. */
export const variableNotAllowed: ReasonText<VariableReason> = {
  headline: (reason) => headline(reason),
  discreetHeadline: (reason) => headline(reason),
  line: (reason) => {
    const { why, allowed = [] } = reason;
    switch (why) {
      case 'required':
        return `${name(reason)}: not set`;
      case 'pattern':
        return `${name(reason)}: its value matches none of ${listText(allowed, 'or')}`;
      case 'denied':
        return `${name(reason)}: its value is denied`;
    }
  },
  advice: (reason, context) => [`Retrying will fail again. ${remedy(reason, context)}`],
  faultless: false,
};

function headline(reason: VariableReason): string {
  switch (reason.why) {
    case 'required':
      return `Variable ${name(reason)} has to be set here.`;
    case 'pattern':
    case 'denied':
      return `Variable ${name(reason)} has a value that is not allowed here.`;
  }
}

function remedy(reason: VariableReason, { disclosure }: AdviceContext): string {
  const { why, allowed = [] } = reason;
  if (why === 'required') return `Set ${name(reason)} in the job, the pipeline or the CI/CD settings.`;
  if (disclosure === 'none' || allowed.length === 0) return 'Give the variable another value, or remove it.';
  return `Give the variable a value that matches ${listText(allowed, 'or')}, or remove it.`;
}

const name = ({ variable }: VariableReason): string => shortened(oneLine(variable), NAME_CHARACTERS_MAX);
