import { NO_CLASS } from '../../price.ts';
import { durationText } from '../duration-text.ts';
import { firstFitting } from '../fitting.ts';
import { oneLine, shortened } from '../plain-text.ts';
import type { ReasonText, Told } from '../reason-text.ts';

const CLASS_CHARACTERS_MAX = 30;
const NEEDS_MAX = 5;
const NEED_CHARACTERS_MAX = 100;
const MINUTE_SECONDS = 60;

type Timeout = Told<'TIMEOUT_TOO_LONG'>;

export const timeoutTooLong: ReasonText<Timeout> = {
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

type Scope = Told<'RUNNER_SCOPE'>;

export const runnerScope: ReasonText<Scope> = {
  headline: (reason) =>
    reason.needs.length === 0
      ? closedText(reason)
      : firstFitting(`${closedText(reason)} It is open to: ${needsText(reason)}.`, closedText(reason)),
  discreetHeadline: (reason) => closedText(reason),
  line: (reason) => {
    const named =
      reason.runnerClass === NO_CLASS
        ? 'what belongs to no runner class'
        : `runner class ${className(reason.runnerClass)}`;
    return reason.needs.length === 0
      ? `${named} is open to nobody`
      : `${named} is open to: ${needsText(reason)}`;
  },
  advice: ({ needs }, { disclosure }) => [
    'Retrying will fail again. Choose another runner with "tags:", or ask the team that runs CI for access.',
    ...(disclosure === 'none' || needs.length === 0
      ? []
      : ['Or run the job where the class is open: see above.']),
  ],
  faultless: false,
};

const closedText = ({ runnerClass }: Scope): string =>
  runnerClass === NO_CLASS
    ? 'This job may not run here: its tags belong to no runner class.'
    : `This job may not use runner class ${className(runnerClass)}.`;

/** Each is a way in of its own and may have an `and` or a comma in it. */
const needsText = ({ needs }: Scope): string =>
  needs
    .slice(0, NEEDS_MAX)
    .map((each) => shortened(oneLine(each), NEED_CHARACTERS_MAX))
    .join('; or ');

const className = (name: string): string => shortened(oneLine(name), CLASS_CHARACTERS_MAX);
