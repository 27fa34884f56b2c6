import type { Directory } from '../directory.ts';
import { COUNTERS_PER_JOB_MAX, mostCountersPerJob } from '../limits/counters-per-job.ts';
import type { Limit } from '../limits/limit.ts';
import { groupDefaultsOf, type LimitSet, type PatternDefault, type Rollout } from '../limits/limits.ts';
import { CALENDAR_YEAR } from '../limits/period.ts';
import { MODES } from '../mode.ts';
import type { Policy } from '../policy.ts';
import { runnerClassNames } from '../price.ts';
import { withoutAbsent } from '../without-absent.ts';
import { edge, gitlabId, word } from './parse-entry.ts';
import { readBreakGlasses, readFreezes, withGrants } from './parse-exceptions.ts';
import {
  LIMIT_KEYS,
  type LimitDefaults,
  readFiscalStart,
  readLimit,
  readLimitSubject,
  readThresholds,
} from './parse-limit.ts';
import { readWildcard } from './parse-match.ts';
import { type DocumentProblem, type ParseResult, Reading, type ReadingOptions } from './reading.ts';

/** A bound for memory; limit sets from the table are larger, but come one root group at a time. */
const LIMITS_MAX = 100_000;
const ROLLOUTS_MAX = 100_000;
const PERSONAL_MAX = 20;
const GROUP_DEFAULTS_MAX = 200;

const KEYS = [
  ...['fiscal_start', 'thresholds', 'limits', 'grants', 'freezes', 'breakglass'],
  ...['personal_default', 'group_defaults', 'rollout'],
];

/**
 * Reads the limits document (see `policies/limits.yaml`). Returns every problem if it is invalid.
 *
 * @param version - a short hash of the document's content.
 * @param policy - names the runner classes.
 * @param directory - shows which groups are above which, to count the counters per job.
 */
export function parseLimits(
  document: unknown,
  version: string,
  policy: Policy,
  directory?: Directory,
  options?: Pick<ReadingOptions, 'carriesUnknown'>,
): ParseResult<LimitSet, DocumentProblem> {
  const reading = Reading.of(document, options);
  const limits = readLimitSet(reading, version, policy);
  if (limits !== undefined) checkCounters(reading.at('limits'), limits, directory);
  return reading.result(limits);
}

/** A document that was published, perhaps by a newer version. */
export const STORED = { carriesUnknown: true } as const;

/** One chunk of a published document. */
export function parseLimitsPart(
  document: unknown,
  version: string,
  policy: Policy,
): ParseResult<LimitSet, DocumentProblem> {
  const reading = Reading.of(document, STORED);
  return reading.result(readLimitSet(reading, version, policy));
}

function readLimitSet(reading: Reading, version: string, policy: Policy): LimitSet | undefined {
  if (!reading.object(KEYS)) return undefined;
  const defaults: LimitDefaults = {
    fiscalStart: reading.optional('fiscal_start', readFiscalStart) ?? CALENDAR_YEAR,
    thresholds: reading.optional('thresholds', readThresholds),
  };
  const runnerClasses = runnerClassNames(policy.prices);
  const bySubject = readLimits(reading.at('limits'), runnerClasses, defaults);
  const byGroup = readGroupDefaults(reading.at('group_defaults'), defaults);
  return {
    version,
    bySubject: withGrants(bySubject, reading.at('grants'), runnerClasses),
    personalDefault: readPersonal(reading.at('personal_default'), defaults),
    rollouts: readRollouts(reading.at('rollout')),
    ...(defaults.fiscalStart !== CALENDAR_YEAR && { fiscalStart: defaults.fiscalStart }),
    ...(byGroup.length > 0 && { groupDefaults: groupDefaultsOf(byGroup) }),
    ...withoutAbsent({
      freezes: readFreezes(reading.at('freezes'), runnerClasses),
      breakGlasses: readBreakGlasses(reading.at('breakglass'), runnerClasses),
    }),
  };
}

function readLimits(
  reading: Reading,
  runnerClasses: readonly string[],
  defaults: LimitDefaults,
): ReadonlyMap<string, readonly Limit[]> {
  const ids = new Set<string>();
  const limits = reading.each('limits', LIMITS_MAX, (each) => {
    if (!each.object(['on', ...LIMIT_KEYS])) return undefined;
    const subject = readLimitSubject(each.at('on'), runnerClasses);
    const limit = readLimit(each, subject ?? '', defaults);
    if (subject === undefined || limit === undefined) return undefined;
    refuseSecond(each, limit, `on ${subject}`, ids);
    return limit;
  });
  return Map.groupBy(limits, ({ subject }) => subject);
}

function readPersonal(reading: Reading, defaults: LimitDefaults): readonly Limit[] {
  const ids = new Set<string>();
  return reading.each('limits', PERSONAL_MAX, (each) => {
    const limit = each.object(LIMIT_KEYS) ? readLimit(each, '', defaults) : undefined;
    if (limit !== undefined) refuseSecond(each, limit, 'on personal namespaces', ids);
    return limit;
  });
}

function readGroupDefaults(reading: Reading, defaults: LimitDefaults): readonly PatternDefault[] {
  const ids = new Set<string>();
  return reading.each('limits', GROUP_DEFAULTS_MAX, (each) => {
    if (!each.object(['groups', ...LIMIT_KEYS])) return undefined;
    const groups = readWildcard(each.at('groups'));
    const limit = readLimit(each, '', defaults);
    if (groups === undefined || limit === undefined) return undefined;
    refuseSecond(each, limit, `of ${groups.pattern}`, ids);
    return { groups, limit };
  });
}

function refuseSecond(reading: Reading, { id }: Limit, where: string, ids: Set<string>): void {
  const name = `${where} ${id}`;
  if (ids.has(name))
    reading.refuse(`is a second limit '${id}' ${where}; give each an id of its own, or keep one`);
  ids.add(name);
}

const TIME = edge('start');

const ROLLOUT = {
  instance: (each: Reading) => (each.value === true ? true : each.expected('true, or no such key')),
  group: gitlabId('group'),
  project: gitlabId('project'),
  cost: word('a mode', MODES),
  capacity: word('a mode', MODES),
  security: (each: Reading) =>
    each.refuse('cannot be rolled out here; security modes live in the policy document only'),
  ...{ costSince: TIME, capacitySince: TIME, reportedMs: TIME },
};

function readRollouts(reading: Reading): ReadonlyMap<string, Rollout> {
  const bySubject = new Map<string, Rollout>();
  for (const each of reading.list('{group, cost, capacity}', ROLLOUTS_MAX)) {
    const found = each.fields({}, ROLLOUT);
    if (found === undefined) continue;
    const { instance, group, project, costSince, capacitySince, ...rollout } = found;
    const [kind = 'group', ...more] = ['instance', 'group', 'project'].filter((key) => each.at(key).isThere);
    if (more.length > 0) each.refuse('names several subjects; expected one of instance, group and project');
    else if (!each.at(kind).isThere) ROLLOUT.group(each.at(kind));
    const subject = kind === 'instance' ? kind : `${kind}/${group ?? project}`;
    if (bySubject.has(subject))
      each.at(kind).expected(`${kind === 'instance' ? 'an' : 'a'} ${kind} that is named once`);
    const sinceMs = withoutAbsent({ cost: costSince, capacity: capacitySince });
    bySubject.set(subject, { ...rollout, ...(Object.keys(sinceMs).length > 0 && { sinceMs }) });
  }
  return bySubject;
}

function checkCounters(reading: Reading, limits: LimitSet, directory: Directory | undefined): void {
  const { counters, group } = mostCountersPerJob(limits, directory);
  if (counters <= COUNTERS_PER_JOB_MAX) return;
  const whose = group === undefined ? 'a job' : `a job in ${group}`;
  reading.refuse(
    `give ${whose} up to ${counters} counters; expected at most ${COUNTERS_PER_JOB_MAX} over all levels`,
  );
}
