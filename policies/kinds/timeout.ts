import { readDuration } from '../document/parse-entry.ts';
import { oneLine, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import { durationText } from '../unit-texts.ts';
import type { FieldMissingReason, StatelessRuleKind } from './rule-kind.ts';

const TIMEOUT_MISSING: readonly FieldMissingReason[] = [{ code: 'FIELD_MISSING', field: 'timeoutSeconds' }];

export const timeout: StatelessRuleKind<TimeoutReason> = {
  class: 'cost',
  keys: ['max'],
  read(reading) {
    const timeoutSecondsMax = readDuration(reading.at('max')) ?? 0;
    return ({ request: { timeoutSeconds = 0 }, runnerClass }) => {
      // GitLab's wire format says nothing with 0; no job has a timeout of 0.
      if (timeoutSeconds <= 0) return TIMEOUT_MISSING;
      if (timeoutSeconds <= timeoutSecondsMax) return [];
      return [{ code: 'TIMEOUT_TOO_LONG', timeoutSeconds, timeoutSecondsMax, runnerClass: runnerClass.name }];
    };
  },
};

export interface TimeoutReason {
  readonly code: 'TIMEOUT_TOO_LONG';
  readonly timeoutSeconds: number;
  readonly timeoutSecondsMax: number;
  readonly runnerClass: string;
}

const CLASS_CHARACTERS_MAX = 30;
const MINUTE_SECONDS = 60;

export const timeoutTooLong: ReasonText<TimeoutReason> = {
  headline: ({ timeoutSeconds, timeoutSecondsMax, runnerClass }) =>
    `The timeout of this job is ${durationText(timeoutSeconds)}; runner class ${className(runnerClass)} allows ${durationText(timeoutSecondsMax, 'down')}.`,
  discreetHeadline: () => 'The timeout of this job is longer than its runner allows.',
  line: ({ timeoutSeconds, timeoutSecondsMax, runnerClass }) =>
    `timeout ${durationText(timeoutSeconds)}, at most ${durationText(timeoutSecondsMax, 'down')} on runner class ${className(runnerClass)}`,
  advice: ({ timeoutSecondsMax }, { disclosure }) => [
    disclosure === 'none'
      ? 'Retrying will fail again. Set a shorter timeout in the job.'
      : `Retrying will fail again. Add to the job:  timeout: ${yamlDuration(timeoutSecondsMax)}`,
    "A job without a timeout of its own takes the project's.",
  ],
};

/** Rounded down, because it has to be allowed. */
const yamlDuration = (seconds: number): string =>
  seconds < MINUTE_SECONDS ? `${seconds} seconds` : `${Math.floor(seconds / MINUTE_SECONDS)} minutes`;

const className = (name: string): string => shortened(oneLine(name), CLASS_CHARACTERS_MAX);
