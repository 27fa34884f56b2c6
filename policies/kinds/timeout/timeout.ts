import { DURATION_EXPECTED, readDurationSeconds } from '../../document/duration.ts';
import type { Reading } from '../../document/reading.ts';
import type { Check, FieldMissingReason, StatelessRuleKind } from '../rule-kind.ts';
import type { TimeoutReason } from './timeout-text.ts';

const TIMEOUT_MISSING: readonly FieldMissingReason[] = [{ code: 'FIELD_MISSING', field: 'timeoutSeconds' }];

/**
 * How long a job may be allowed to run at most: what it can cost if it hangs. A cap per runner class is a rule with
 * `match.runner_classes`, as with every other kind: then the rule that is told, exempted or rolled out is the one that
 * holds for that class. Where several caps match, each must be kept.
 */
export const timeout: StatelessRuleKind<TimeoutReason> = {
  class: 'cost',
  keys: ['max'],
  read: readTimeout,
};

function readTimeout(reading: Reading): Check<TimeoutReason> {
  const max = reading.at('max');
  const text = typeof max.value === 'string' ? max.value : '';
  const timeoutSecondsMax = readDurationSeconds(text) ?? 0;
  if (timeoutSecondsMax === 0) max.expected(DURATION_EXPECTED);
  return ({ request: { timeoutSeconds = 0 }, runnerClass }) => {
    // GitLab's wire format says nothing with 0; no job has a timeout of 0.
    if (timeoutSeconds <= 0) return TIMEOUT_MISSING;
    if (timeoutSeconds <= timeoutSecondsMax) return [];
    return [{ code: 'TIMEOUT_TOO_LONG', timeoutSeconds, timeoutSecondsMax, runnerClass: runnerClass.name }];
  };
}
