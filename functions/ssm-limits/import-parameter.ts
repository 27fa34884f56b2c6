/**
 * Imports a parameter as one edit of limits. Its name ends with the group's id, its value is a document in YAML or JSON:
 *
 *   # /tollgate/prod/limits/101
 *   path: acme/payments
 *   limits:
 *     - { money: 500, per: month, zone: Europe/Berlin, owner: payments-leads }
 *     - { jobs: 20 }
 *
 * `path` is the group's path as GitLab shows it now: a typo in the id must not give another group money. An entry of `limits`
 * has the fields of limits.yaml without `on`. `limits: []` removes all. `confirm: true` is needed where the console
 * asks twice, such as for more than three times the amount before.
 */
import { parse } from 'yaml';
import { type Directory, pathKey } from '../../policies/directory.ts';
import { parseLimitsPart } from '../../policies/document/parse-limits.ts';
import { isRecord, problemText, Reading } from '../../policies/document/reading.ts';
import type { Policy } from '../../policies/policy.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { LedgerClock, Log } from '../core/environment/environment.ts';
import type { LimitEdits } from '../core/limits/create-limit-edits.ts';
import type { ApplyOutcome } from '../core/limits/edit-outcomes.ts';
import type { LimitsDocument } from '../core/limits/limit-set.ts';
import { idOf, kindOf } from '../core/limits/subject-text.ts';
import type { Metrics } from '../core/metrics.ts';
import type { LimitsInForce } from '../core/rules.ts';
import { retried } from '../core/store/table-failure.ts';
import { FUNCTION_METRIC } from '../names.ts';
import type { ImportedVersions } from './imported-versions.ts';
import type { Parameters, ParameterVersion, StoredParameter } from './parameters.ts';

interface ImportDeps {
  readonly path: string;
  readonly parameters: Parameters;
  readonly imported: ImportedVersions;
  readonly limitEdits: Pick<LimitEdits, 'live' | 'apply'>;
  readonly packed: LimitsInForce;
  readonly policy: Policy;
  readonly clock: Pick<LedgerClock, 'monotonicMs' | 'sleep' | 'nowMs'>;
  readonly random: () => number;
  readonly directory: () => Promise<Directory | undefined>;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Entry = Readonly<Record<string, unknown>>;

const TRIES_MAX = 5;
const PAUSE_MS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;
const PROBLEMS_MAX = 5;
const BYTES_MAX = 4_096;
const LIMITS_MAX = 50;
const PROBLEM_CHARACTERS_MAX = 300;

/**
 * 1. Read the newest version of the parameter, and the last imported version. If they are equal, stop: a repeated event makes
 *    no edit.
 * 2. Replace the limits that the last imported version named by those of this one, as one edit by the parameter's author.
 * 3. Store the version. If this fails, the next run finds the limits correct and makes no edit.
 *
 * @throws {Error} the edit may be made or not; run again.
 */
async function importParameter(group: number, directory: Directory, deps: ImportDeps) {
  const { path, parameters, imported, limitEdits, packed, policy, clock, random } = deps;
  const name = `${path}/${group}`;
  const [parameter, last] = await Promise.all([parameters.read(name), imported.read(group)]);
  if (isSameVersion(parameter, last)) return { outcome: 'unchanged' } as const;
  const version = parameter?.version;
  const refusedFor = (problems: readonly string[]) => ({ outcome: 'refused', version, problems }) as const;
  const importOnce = async () => {
    const live = await limitEdits.live();
    const { document } = live ?? packed;
    const wanted = parameter && readParameter(group, parameter, policy, directory, document);
    if (wanted !== undefined && 'problems' in wanted) return refusedFor(wanted.problems);
    const next = replaceLimits(document, group, wanted?.entries ?? [], last?.limits ?? []);
    const outcome = await limitEdits.apply([{ kind: 'replace', document: next }], {
      actor: (parameter?.editor ?? `Parameter Store ${name}`).slice(0, ACTOR_CHARACTERS_MAX),
      // IAM decides who may write the parameter. It can do no more than finance.
      rights: [{ role: 'finance' }],
      why: `SSM parameter ${name} ${version === undefined ? 'deleted' : `version ${version}`}`,
      source: 'ssm',
      base: live?.pointer.set,
      // Every run would file it again.
      filing: 'never',
      confirmed: wanted?.confirmed ?? true,
    });
    if (outcome.outcome === 'stale') return 'stale' as const;
    const problems = describeProblems(outcome);
    if (problems !== undefined) return refusedFor(problems);
    await imported.write(group, parameter && { ...parameter, limits: wanted?.ids ?? [] });
    return { outcome: 'imported' } as const;
  };
  const result = await retried(importOnce, (each) => each === 'stale', {
    ...{ clock, random, triesMax: TRIES_MAX, pauseMsMax: () => PAUSE_MS_MAX },
  });
  return result === 'stale'
    ? refusedFor(['others edited limits at the same time; the next run tries again'])
    : result;
}

type Version = Pick<ParameterVersion, 'version' | 'modifiedAtMs'>;

const isSameVersion = (a: Version | undefined, b: Version | undefined): boolean =>
  a?.version === b?.version && a?.modifiedAtMs === b?.modifiedAtMs;

/** @param named - ids of limits of the last imported version: those that are not wanted any more go, with their grants. */
function replaceLimits(
  document: LimitsDocument,
  group: number,
  wanted: readonly Entry[],
  named: readonly string[],
): LimitsDocument {
  const byId = new Map(wanted.map((entry) => [idOf(entry), entry]));
  const isGroups = (entry: unknown): entry is Entry =>
    isRecord(entry) && isRecord(entry.on) && entry.on.group === group && entry.on.each === undefined;
  const list = (name: string): readonly unknown[] => (Array.isArray(document[name]) ? document[name] : []);
  const gone = new Set<unknown>(named.filter((id) => !byId.has(id)));
  const limits = list('limits').flatMap((entry) => {
    if (!isGroups(entry)) return [entry];
    const id = idOf(entry);
    const next = byId.get(id);
    byId.delete(id);
    if (next === undefined) return gone.has(id) ? [] : [entry];
    if (kindOf(next) !== kindOf(entry)) gone.add(id);
    return [{ on: entry.on, ...next }];
  });
  const added = [...byId.values()].map((entry) => ({ on: { group }, ...entry }));
  const grants = list('grants').filter((grant) => !isGroups(grant) || !gone.has(grant.limit));
  return { ...document, limits: [...limits, ...added], ...(document.grants !== undefined && { grants }) };
}

function describeProblems(
  outcome: Exclude<ApplyOutcome, { outcome: 'stale' }>,
): readonly string[] | undefined {
  switch (outcome.outcome) {
    case 'live':
    case 'unchanged':
      return undefined;
    case 'invalid':
      return outcome.problems.slice(0, PROBLEMS_MAX).map(problemText);
    case 'forbidden': {
      const { row, needs } = outcome.denied[0];
      return [`${row.subject} ${row.limit} ${row.field}: only ${needs.join(' or ')} may do this`];
    }
    case 'needs_confirmation': {
      const rows = outcome.rows.map(
        ({ limit, from, to, unit = '' }) => `${limit}: ${from} becomes ${to} ${unit}`,
      );
      const details = [...rows, ...outcome.lockout].slice(0, PROBLEMS_MAX).join('; ');
      return [`needs to be confirmed: write confirm: true into the value (${details})`];
    }
    case 'needs_approval':
      return [
        'lets jobs go more than half as far again, so another user must approve it: make this change in the console or with tollgate budget, where a request is filed',
      ];
  }
}

const refused = (...problems: readonly string[]) => ({ problems });

function readParameter(
  group: number,
  { type, value }: Pick<StoredParameter, 'type' | 'value'>,
  policy: Policy,
  directory: Directory,
  /** Its defaults hold for limits in parameters, too. */
  live: LimitsDocument,
) {
  if (type !== 'String')
    return refused(
      `is a ${type || 'parameter without a type'}; expected a String: limits are no secrets, and nothing here may decrypt`,
    );
  const bytes = Buffer.byteLength(value);
  if (bytes > BYTES_MAX) return refused(`has ${bytes} bytes; expected at most ${BYTES_MAX}`);
  let reading: Reading;
  try {
    // No aliases: a short text must not unfold to a long one.
    reading = Reading.of(parse(value, { schema: 'core', maxAliasCount: 0, logLevel: 'error' }));
  } catch (error) {
    const [first = ''] = error instanceof Error ? error.message.split('\n') : [];
    return refused(`is no YAML: ${first.slice(0, PROBLEM_CHARACTERS_MAX)}`);
  }
  const entries: Entry[] = [];
  let confirmed: boolean | undefined = false;
  if (reading.object(['path', 'limits', 'confirm'])) {
    checkPath(reading.at('path'), group, directory);
    if (reading.at('confirm').isThere) confirmed = reading.at('confirm').boolean();
    const limits = reading.at('limits');
    if (!limits.isThere) limits.expected('a list of limits; [] removes them all');
    for (const each of limits.list('limits', LIMITS_MAX)) {
      if (!isRecord(each.value)) each.expected('an object');
      else if (each.at('on').isThere) each.at('on').refuse("not here: the parameter's name has the id");
      else entries.push(each.value);
    }
  }
  if (reading.problems.length > 0) return refused(...reading.problems.map(problemText));
  const document = {
    ...withoutAbsent({ fiscal_start: live.fiscal_start, thresholds: live.thresholds }),
    limits: entries.map((entry) => ({ on: { group }, ...entry })),
  };
  const parsed = parseLimitsPart(document, '', policy);
  if (!parsed.ok) return refused(...parsed.problems.map(problemText));
  return {
    entries,
    ids: (parsed.value.bySubject.get(`group/${group}`) ?? []).map(({ id }) => id),
    confirmed: confirmed === true,
  };
}

function checkPath(reading: Reading, group: number, directory: Directory): void {
  const path = reading.text("the group's full path, such as acme/payments");
  const known = directory.groupById.get(group);
  if (path === undefined) return;
  if (known === undefined)
    reading.refuse(
      `group ${group} is not in the directory: a wrong id, or a group made within the last minutes`,
    );
  else if (pathKey(known.path) !== pathKey(path))
    reading.expected(`${known.path}, which is the path of group ${group} now; correct the path or the id`);
}

/** A started import ends after it; the function has 290 s. */
const RUN_MS = 200_000;
const LINES_MAX = 20;

/** A run that fails counts like a refused parameter, so that the same alarm reports it. */
export async function runOn(event: unknown, deps: ImportDeps): Promise<void> {
  const { path, log, metrics, clock } = deps;
  let refused = 0;
  const refuse = (parameter: string, version: number | undefined, problems: readonly string[]): void => {
    refused += 1;
    // Logged in every run until it is corrected or deleted, so that the alarm stays on.
    if (refused <= LINES_MAX)
      log.error('parameter refused, its last valid version stays', { parameter, version, problems });
  };
  try {
    const directory = await deps.directory();
    if (directory === undefined) {
      log.error('no parameter is imported: GitLab’s groups were never listed, so no path can be compared');
      refused = 1;
      return;
    }
    const endsAtMs = clock.monotonicMs() + RUN_MS;
    const { groups, misnamed } = await toImport(event, deps);
    for (const name of misnamed)
      refuse(name, undefined, [`ends with no group's id; expected a name such as ${path}/101`]);
    let imported = 0;
    let left = groups.length;
    for (const group of groups) {
      if (clock.monotonicMs() >= endsAtMs) break;
      left -= 1;
      const result = await importParameter(group, directory, deps);
      if (result.outcome === 'imported') imported += 1;
      if (result.outcome === 'refused') refuse(`${path}/${group}`, result.version, result.problems);
    }
    log.info('limits from parameters', { imported, refused, left });
  } catch (error) {
    refused = 1;
    const cause = error instanceof Error ? error.message : String(error);
    log.error('limits in Parameter Store not read, the last valid ones stay', { cause });
    throw error;
  } finally {
    if (refused > 0) metrics.add(FUNCTION_METRIC.limitsUnreadable, refused);
    metrics.flush();
  }
}

/** Nothing of an event but its name is used: it may be late or out of order. */
async function toImport(event: unknown, { path, parameters, imported }: ImportDeps) {
  const detail = isRecord(event) && event.source === 'aws.ssm' && isRecord(event.detail) ? event.detail : {};
  const changed = typeof detail.name === 'string' ? detail.name : '';
  if (changed.startsWith(`${path}/`)) {
    const group = parseGroupId(changed, path);
    return group === undefined ? { groups: [], misnamed: [changed] } : { groups: [group], misnamed: [] };
  }
  const [listed, known] = await Promise.all([parameters.list(path), imported.readAll()]);
  const byGroup = new Map(listed.map((each) => [parseGroupId(each.name, path), each]));
  const groups = new Set([...byGroup.keys(), ...known.keys()]);
  return {
    groups: [...groups].flatMap((group) =>
      group === undefined || isSameVersion(byGroup.get(group), known.get(group)) ? [] : group,
    ),
    misnamed: listed.flatMap(({ name }) => (parseGroupId(name, path) === undefined ? name : [])),
  };
}

/** `/tollgate/prod/limits/101`: 101. GitLab's ids begin with 1 and have no zeros before them. */
function parseGroupId(name: string, path: string): number | undefined {
  const last = name.slice(path.length + 1);
  const group = Number(last);
  return /^[1-9]\d{0,15}$/.test(last) && Number.isSafeInteger(group) ? group : undefined;
}
