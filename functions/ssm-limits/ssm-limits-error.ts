import { codedError } from '../../policies/coded-error.ts';

export class SsmLimitsError extends codedError('SsmLimitsError', {
  /** Parameter Store asks to be asked later. */
  parameters_throttled: true,
  /** It did not answer. */
  parameters_unavailable: true,
  /** It refuses the question; a page token it gave earlier may be too old. */
  parameters_misread: false,
  /** The table did not answer; a mark may be written or not. */
  marks_unavailable: true,
}) {}

export type SsmLimitsErrorCode = SsmLimitsError['code'];
