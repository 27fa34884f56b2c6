import type { CheckedJob } from '../checked-job.ts';
import type { Reading } from '../document/reading.ts';
import { isOfClass } from '../match/compare.ts';
import { CONDITION_KEYS, type Conditions, needsOf, readConditions } from '../match/conditions.ts';
import { allHold } from '../match/match.ts';
import { NO_CLASS } from '../price.ts';
import { oneLine, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import type { StatelessRuleKind } from './rule-kind.ts';

const ENTRIES_MAX = 1_000;
const NEEDS_MAX = 5;
/** Conditions on the caller; `runner_classes` selects the runners. */
const WHO_KEYS = CONDITION_KEYS.filter((key) => !key.startsWith('runner_'));

export const runnerAccess: StatelessRuleKind<RunnerScope> = {
  class: 'security',
  keys: ['runner_classes', 'allow'],
  readsPlace: true,
  read(reading, names) {
    // Shares its key with `match`; the other keys of a match are refused here.
    const { runnerClasses } = readConditions(reading, names.runnerClasses);
    if (runnerClasses === undefined)
      reading
        .at('runner_classes')
        .expected(`the runner classes it is about: ${names.runnerClasses.join(', ')}`);
    const allow = reading.at('allow');
    if (!allow.isThere) allow.expected('a list of who may use them, or [] for no job');
    const entries = allow.each('{groups, protected, …}', ENTRIES_MAX, (each) =>
      readEntry(each, names.runnerClasses),
    );
    const needs = [...new Set(entries.map(needsOf))].slice(0, NEEDS_MAX);
    // Left out, the class is the kind's own; a wrong one is noted where every rule's class is read.
    const isSecurity = (reading.at('class').value ?? 'security') === 'security';
    return (job) => {
      if (runnerClasses === undefined || !isOfClass(runnerClasses, job)) return [];
      const { name } = job.runnerClass;
      const opened = opens(entries, job, isSecurity);
      if (opened === true) return [];
      return opened === false
        ? [{ code: 'RUNNER_SCOPE', runnerClass: runnerClasses.has(name) ? name : NO_CLASS, needs }]
        : [{ code: 'FIELD_MISSING', field: opened }];
    };
  },
};

function readEntry(reading: Reading, runnerClasses: readonly string[]): Conditions | undefined {
  if (!reading.object(WHO_KEYS)) return undefined;
  if (!WHO_KEYS.some((key) => reading.at(key).isThere))
    return reading.refuse(`is empty; expected one of ${WHO_KEYS.join(', ')}`);
  return readConditions(reading, runnerClasses);
}

function opens(entries: readonly Conditions[], job: CheckedJob, isSecurity: boolean): boolean | string {
  let missing: string | undefined;
  for (const entry of entries) {
    const held = allHold(entry, job);
    if (held === true) return true;
    if (held === false) continue;
    // GitLab did send the group; the directory does not know it yet. As with exemptions, that opens nothing.
    if (isSecurity && held === 'namespaceId' && job.placement.groupId !== undefined) continue;
    missing ??= held;
  }
  return missing ?? false;
}

export interface RunnerScope {
  readonly code: 'RUNNER_SCOPE';
  readonly runnerClass: string;
  readonly needs: readonly string[];
}

const CLASS_CHARACTERS_MAX = 30;
const NEED_CHARACTERS_MAX = 100;

export const runnerScope: ReasonText<RunnerScope> = {
  headline: (reason) => `${closedText(reason)} ${openText(reason)}.`,
  discreetHeadline: (reason) => closedText(reason),
  line: (reason) => `${className(reason)}: ${openText(reason)}`,
  advice: () => [
    'Retrying will fail again. Choose another runner with "tags:", or ask the team that runs CI for access.',
  ],
};

const closedText = (reason: RunnerScope): string => `This job may not use ${className(reason)}.`;

/** Each is a way in of its own and may have an `and` or a comma in it. */
const openText = ({ needs }: RunnerScope): string =>
  needs.length === 0
    ? 'No job may use it'
    : `Allowed: ${needs.map((each) => shortened(oneLine(each), NEED_CHARACTERS_MAX)).join('; or ')}`;

const className = ({ runnerClass }: RunnerScope): string =>
  runnerClass === NO_CLASS
    ? 'runners whose tags belong to no runner class'
    : `runner class ${shortened(oneLine(runnerClass), CLASS_CHARACTERS_MAX)}`;
