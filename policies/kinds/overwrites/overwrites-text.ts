import { oneLine, shortened } from '../../text/plain-text.ts';
import type { ReasonText } from '../../text/reason-text.ts';

export interface OverwriteReason {
  readonly code: 'OVERWRITE_NOT_ALLOWED';
  /** Its value is not told. */
  readonly variable: string;
  /** `off`: may not be set at all. `pattern`: does not match it. `reserved`: `runner.gitlab.com` is read-only. */
  readonly why: 'off' | 'pattern' | 'reserved';
  readonly pattern?: string;
}

const PATTERN_CHARACTERS_MAX = 100;
const VARIABLE_CHARACTERS_MAX = 70;

export const overwriteNotAllowed: ReasonText<OverwriteReason> = {
  headline: (reason) => overwriteHeadline(reason),
  discreetHeadline: (reason) => overwriteHeadline(reason),
  line: (reason) => {
    switch (reason.why) {
      case 'off':
        return `${name(reason)}: may not be set`;
      case 'reserved':
        return `${name(reason)}: labels of runner.gitlab.com are read-only`;
      case 'pattern':
        return reason.pattern === undefined
          ? `${name(reason)}: its value matches no allowed pattern`
          : `${name(reason)}: its value does not match ${shortened(oneLine(reason.pattern), PATTERN_CHARACTERS_MAX)}`;
    }
  },
  advice: (reason, { disclosure }) => {
    switch (reason.why) {
      case 'off':
        return [
          'Retrying will fail again. Remove the variable wherever it is set: in the job, the pipeline or the CI/CD settings.',
        ];
      case 'reserved':
        return ['Retrying will fail again. Use another label.'];
      case 'pattern':
        return disclosure === 'none' || reason.pattern === undefined
          ? ['Retrying will fail again. Give the variable another value, or remove it.']
          : [
              `Retrying will fail again. Give the variable a value that matches ${shortened(oneLine(reason.pattern), PATTERN_CHARACTERS_MAX)}, or remove it.`,
            ];
    }
  },
  faultless: false,
};

function overwriteHeadline(reason: OverwriteReason): string {
  switch (reason.why) {
    case 'off':
      return `Variable ${name(reason)} may not be set here.`;
    case 'pattern':
      return `Variable ${name(reason)} has a value that is not allowed here.`;
    case 'reserved':
      return `Variable ${name(reason)} may not set labels of runner.gitlab.com.`;
  }
}

const name = ({ variable }: OverwriteReason): string => shortened(oneLine(variable), VARIABLE_CHARACTERS_MAX);
