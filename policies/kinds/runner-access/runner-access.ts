import type { CheckedJob } from '../../checked-job.ts';
import { CONDITION_KEYS, readConditions } from '../../document/parse-match.ts';
import type { Reading } from '../../document/reading.ts';
import { needsOf } from '../../match/access-needs.ts';
import { isOfClass } from '../../match/condition.ts';
import type { Conditions } from '../../match/conditions.ts';
import { allHold } from '../../match/match.ts';
import { NO_CLASS } from '../../prices/price.ts';
import type { Check, KnownNames, StatelessRuleKind } from '../rule-kind.ts';
import type { RunnerScope } from './runner-access-text.ts';

/** More are better written as one entry that names a parent group or a wildcard. */
const ENTRIES_MAX = 1_000;
/** Ways in that are told; with more of them nobody reads on. */
const NEEDS_MAX = 5;
/** Who, not on which runner: that is what `runner_classes` says. */
const WHO_KEYS = CONDITION_KEYS.filter((key) => !key.startsWith('runner_'));

/** Who may use which runner classes. Jobs on other classes pass. */
export const runnerAccess: StatelessRuleKind<RunnerScope> = {
  class: 'security',
  keys: ['runner_classes', 'allow'],
  readsPlace: true,
  read: readRunnerAccess,
};

/** One entry of `allow` is enough, and of one entry all conditions must hold. An empty list opens the classes to nobody. */
function readRunnerAccess(reading: Reading, names: KnownNames): Check<RunnerScope> {
  // The same key as in a match. The others of them are not known here, and refused as such.
  const { runnerClasses } = readConditions(reading, names.runnerClasses);
  if (runnerClasses === undefined)
    reading
      .at('runner_classes')
      .expected(`the runner classes it is about: ${names.runnerClasses.join(', ')}`);
  const allow = reading.at('allow');
  if (!allow.isThere) allow.expected('a list of who may use them, or [] for nobody');
  const entries = allow
    .list('{groups, protected, …}', ENTRIES_MAX)
    .flatMap((each) => readEntry(each, names.runnerClasses) ?? []);
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
}

function readEntry(reading: Reading, runnerClasses: readonly string[]): Conditions | undefined {
  if (!reading.object(WHO_KEYS)) return undefined;
  if (!WHO_KEYS.some((key) => reading.at(key).isThere))
    return reading.refuse(`names nobody; expected one of ${WHO_KEYS.join(', ')}`);
  return readConditions(reading, runnerClasses);
}

/** Whether an entry holds, or else the field that would tell. */
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
