import type { Directory } from '../directory.ts';
import { COUNTERS_PER_JOB_MAX, mostCountersPerJob } from '../limits/counters-per-job.ts';
import { type GroupDefaults, groupDefaultsOf, type PatternDefault } from '../limits/group-defaults.ts';
import type { Limit } from '../limits/limit.ts';
import type { LimitSet, Rollout } from '../limits/limits.ts';
import { CALENDAR_YEAR } from '../limits/period.ts';
import { MODES } from '../mode.ts';
import type { Policy } from '../policy.ts';
import { runnerClassNames } from '../price.ts';
import { withoutAbsent } from '../without-absent.ts';
import { readBreakGlasses, readFreezes } from './parse-exceptions.ts';
import { withGrants } from './parse-grants.ts';
import { LIMIT_KEYS, type LimitDefaults, readLimit, readLimitSubject } from './parse-limit.ts';
import { readFiscalStart, readThresholds } from './parse-limit-period.ts';
import { readWildcard } from './parse-wildcard.ts';
import { type DocumentProblem, type ParseResult, Reading } from './reading.ts';
import { readInstant } from './values.ts';

/** A bound for memory; limit sets from the table are larger, but come one root group at a time. */
const LIMITS_MAX = 100_000;
const ROLLOUTS_MAX = 100_000;
const PERSONAL_MAX = 20;

const LIMITS_DOCUMENT_KEYS = [
  'fiscal_start',
  'thresholds',
  'limits',
  'grants',
  'freezes',
  'breakglass',
  'personal_default',
  'group_defaults',
  'rollout',
] as const;

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
): ParseResult<LimitSet, DocumentProblem> {
  const reading = Reading.of(document);
  const limits = readLimitSet(reading, version, policy);
  if (limits !== undefined) checkCounters(reading.at('limits'), limits, directory);
  return limits === undefined || reading.problems.length > 0
    ? { ok: false, problems: reading.problems }
    : { ok: true, value: limits };
}

/**
 * Reads a part of a valid document, without the check of counters per job, which needs the whole document.
 */
export function parseLimitsPart(
  document: unknown,
  version: string,
  policy: Policy,
): ParseResult<LimitSet, DocumentProblem> {
  const reading = Reading.of(document);
  const limits = readLimitSet(reading, version, policy);
  return limits === undefined || reading.problems.length > 0
    ? { ok: false, problems: reading.problems }
    : { ok: true, value: limits };
}

function readLimitSet(reading: Reading, version: string, policy: Policy): LimitSet | undefined {
  if (!reading.object(LIMITS_DOCUMENT_KEYS)) return undefined;
  const defaults: LimitDefaults = {
    fiscalStart: readFiscalStart(reading.at('fiscal_start')) ?? CALENDAR_YEAR,
    thresholds: readThresholds(reading.at('thresholds')),
  };
  const bySubject = readLimits(reading.at('limits'), policy, defaults);
  const runnerClasses = runnerClassNames(policy.prices);
  const groupDefaults = readGroupDefaults(reading.at('group_defaults'), defaults);
  const freezes = readFreezes(reading.at('freezes'), runnerClasses);
  const breakGlasses = readBreakGlasses(reading.at('breakglass'), runnerClasses);
  return {
    version,
    bySubject: withGrants(bySubject, reading.at('grants'), runnerClasses),
    personalDefault: readPersonal(reading.at('personal_default'), defaults),
    rollouts: readRollouts(reading.at('rollout')),
    ...(defaults.fiscalStart !== CALENDAR_YEAR && { fiscalStart: defaults.fiscalStart }),
    ...(groupDefaults !== undefined && { groupDefaults }),
    ...(freezes !== undefined && { freezes }),
    ...(breakGlasses !== undefined && { breakGlasses }),
  };
}

function readLimits(
  reading: Reading,
  policy: Policy,
  defaults: LimitDefaults,
): ReadonlyMap<string, readonly Limit[]> {
  const bySubject = new Map<string, Limit[]>();
  const runnerClasses = runnerClassNames(policy.prices);
  for (const each of reading.list('limits', LIMITS_MAX)) {
    if (!each.object(['on', ...LIMIT_KEYS])) continue;
    const subject = readLimitSubject(each.at('on'), runnerClasses);
    const limit = readLimit(each, subject ?? '', defaults);
    if (subject === undefined || limit === undefined) continue;
    const others = bySubject.get(subject);
    if (others === undefined) bySubject.set(subject, [limit]);
    else if (others.some((other) => other.id === limit.id)) refuseSecond(each, limit);
    else others.push(limit);
  }
  return bySubject;
}

function readPersonal(reading: Reading, defaults: LimitDefaults): readonly Limit[] {
  const limits: Limit[] = [];
  for (const each of reading.list('limits', PERSONAL_MAX)) {
    const limit = each.object(LIMIT_KEYS) ? readLimit(each, '', defaults) : undefined;
    if (limit === undefined) continue;
    if (limits.some((other) => other.id === limit.id)) refuseSecond(each, limit);
    limits.push(limit);
  }
  return limits;
}

/** Two limits of one kind and period would share a counter if they had no ids. */
function refuseSecond(reading: Reading, { id, subject }: Limit): void {
  const where = subject === '' ? 'personal namespaces' : subject;
  reading.refuse(`is a second limit '${id}' on ${where}; give each an id of its own, or keep one`);
}

const ROLLOUT_KEYS = ['instance', 'group', 'project', 'cost', 'capacity', 'security'] as const;
/** The desk writes these. */
const ROLLOUT_TIMES = ['cost_since', 'capacity_since', 'reported'] as const;

function readRollouts(reading: Reading): ReadonlyMap<string, Rollout> {
  const bySubject = new Map<string, Rollout>();
  for (const each of reading.list('{group, cost, capacity}', ROLLOUTS_MAX)) {
    const security = each.at('security');
    if (security.isThere)
      security.refuse('cannot be rolled out here; security modes live in the policy document only');
    if (!each.object([...ROLLOUT_KEYS, ...ROLLOUT_TIMES])) continue;
    const subject = readRolloutSubject(each);
    const cost = each.at('cost').isThere ? each.at('cost').oneOf('a mode', MODES) : undefined;
    const capacity = each.at('capacity').isThere ? each.at('capacity').oneOf('a mode', MODES) : undefined;
    const [costSince, capacitySince, reportedMs] = ROLLOUT_TIMES.map((key) => readTime(each.at(key)));
    if (subject === undefined) continue;
    if (bySubject.has(subject)) {
      const [kind = ''] = subject.split('/');
      each.at(kind).expected(`${kind === 'instance' ? 'an instance' : `a ${kind}`} that is named once`);
    }
    const sinceMs = withoutAbsent({ cost: costSince, capacity: capacitySince });
    bySubject.set(subject, {
      ...withoutAbsent({ cost, capacity, reportedMs }),
      ...(Object.keys(sinceMs).length > 0 && { sinceMs }),
    });
  }
  return bySubject;
}

function readRolloutSubject(each: Reading): string | undefined {
  const [instance, group, project] = [each.at('instance'), each.at('group'), each.at('project')];
  if ([instance, group, project].filter(({ isThere }) => isThere).length > 1)
    return each.refuse('names several subjects; expected one of instance, group and project');
  if (instance.isThere)
    return instance.value === true ? 'instance' : instance.expected('true, or no such key');
  const [kind, id] = project.isThere
    ? ['project', project.integer("GitLab's id of the project", 1)]
    : ['group', group.integer("GitLab's id of the group", 1)];
  return id === undefined ? undefined : `${kind}/${id}`;
}

function readTime(reading: Reading): number | undefined {
  if (!reading.isThere) return undefined;
  const text = typeof reading.value === 'string' ? reading.value : '';
  return readInstant(text, 'start') ?? reading.expected('an instant such as 2026-11-21T12:00:00Z');
}

function checkCounters(reading: Reading, limits: LimitSet, directory: Directory | undefined): void {
  const { counters, group } = mostCountersPerJob(limits, directory);
  if (counters <= COUNTERS_PER_JOB_MAX) return;
  const whose = group === undefined ? 'a job' : `a job in ${group}`;
  reading.refuse(
    `give ${whose} up to ${counters} counters; expected at most ${COUNTERS_PER_JOB_MAX} over all levels`,
  );
}

/** Each group of each job is compared with every one. */
const GROUP_DEFAULTS_MAX = 200;

/** Reads `group_defaults: [{groups: 'acme/team-*', money: 50, per: month}]`; undefined: there are none. */
function readGroupDefaults(reading: Reading, defaults: LimitDefaults): GroupDefaults | undefined {
  const all: PatternDefault[] = [];
  for (const each of reading.list('limits', GROUP_DEFAULTS_MAX)) {
    if (!each.object(['groups', ...LIMIT_KEYS])) continue;
    const groups = readWildcard(each.at('groups'));
    const limit = readLimit(each, '', defaults);
    if (groups === undefined || limit === undefined) continue;
    if (all.some((other) => other.groups.pattern === groups.pattern && other.limit.id === limit.id))
      each.refuse(
        `is a second limit '${limit.id}' of ${groups.pattern}; give each an id of its own, or keep one`,
      );
    all.push({ groups, limit });
  }
  return all.length === 0 ? undefined : groupDefaultsOf(all);
}
