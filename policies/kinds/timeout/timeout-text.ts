import { oneLine, shortened } from '../../text/plain-text.ts';
import type { ReasonText } from '../../text/reason-text.ts';
import { durationText } from '../../units/unit-texts.ts';

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
  faultless: false,
};

/** As GitLab reads it: `60 minutes`. Rounded down, because it has to be allowed. */
function yamlDuration(seconds: number): string {
  if (seconds < MINUTE_SECONDS) return `${seconds} seconds`;
  const minutes = Math.floor(seconds / MINUTE_SECONDS);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}

const className = (name: string): string => shortened(oneLine(name), CLASS_CHARACTERS_MAX);
