import { NO_CLASS } from '../../prices/price.ts';
import { firstFitting, oneLine, shortened } from '../../text/plain-text.ts';
import type { ReasonText } from '../../text/reason-text.ts';

export interface RunnerScope {
  readonly code: 'RUNNER_SCOPE';
  readonly runnerClass: string;
  /** What would open it, for people: `protected refs`, `group 104`, `environment production`. */
  readonly needs: readonly string[];
}

const CLASS_CHARACTERS_MAX = 30;
const NEEDS_MAX = 5;
const NEED_CHARACTERS_MAX = 100;

export const runnerScope: ReasonText<RunnerScope> = {
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

const closedText = ({ runnerClass }: RunnerScope): string =>
  runnerClass === NO_CLASS
    ? 'This job may not run here: its tags belong to no runner class.'
    : `This job may not use runner class ${className(runnerClass)}.`;

/** Each is a way in of its own and may have an `and` or a comma in it. */
const needsText = ({ needs }: RunnerScope): string =>
  needs
    .slice(0, NEEDS_MAX)
    .map((each) => shortened(oneLine(each), NEED_CHARACTERS_MAX))
    .join('; or ');

const className = (name: string): string => shortened(oneLine(name), CLASS_CHARACTERS_MAX);
