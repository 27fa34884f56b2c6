import { codedError } from '../../../policies/coded-error.ts';

export class LimitsError extends codedError('LimitsError', {
  /** The table gave no answer we can use; a write may or may not have happened. */
  limits_unavailable: true,
  /** What is stored is not what was written, or no longer fits the policy. */
  limits_unreadable: false,
}) {}
