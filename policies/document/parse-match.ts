import type {
  Conditions,
  GroupCondition,
  ProjectCondition,
  VariableConditions,
} from '../match/conditions.ts';
import type { Match } from '../match/match.ts';
import { remembering } from '../match/remember.ts';
import { compileWildcard, type Wildcard } from '../match/wildcard.ts';
import { NO_CLASS } from '../price.ts';
import { withoutAbsent } from '../without-absent.ts';
import { gitlabId, word } from './parse-entry.ts';
import { isRecord, type Read, type Reading } from './reading.ts';

export const CONDITION_KEYS: readonly string[] = [
  ...['groups', 'projects', 'runner_classes', 'runner_tags', 'runner_ids', 'users', 'refs', 'protected'],
  ...['sources', 'environments', 'jobs'],
];

/** A match may also look at variables; who may pass a rule must not depend on what the job's author sets. */
const MATCH_KEYS: readonly string[] = [...CONDITION_KEYS, 'variables'];

export const PIPELINE_SOURCES: readonly string[] = [
  ...['push', 'web', 'trigger', 'schedule', 'api', 'external', 'pipeline', 'chat', 'webide'],
  ...['merge_request_event', 'external_pull_request_event', 'parent_pipeline', 'ondemand_dast_scan'],
  ...['ondemand_dast_validation', 'security_orchestration_policy', 'container_registry_push', 'duo_workflow'],
];

const ENTRIES_MAX = 10_000;

export function readMatch(reading: Reading, runnerClasses: readonly string[]): Match {
  if (!reading.isThere || !reading.object([...MATCH_KEYS, 'not'])) return {};
  const not = reading.at('not');
  const conditions = readConditions(reading, runnerClasses);
  if (!not.isThere || !not.object(MATCH_KEYS)) return conditions;
  return { ...conditions, not: readConditions(not, runnerClasses) };
}

export function readConditions(reading: Reading, runnerClasses: readonly string[]): Conditions {
  const some = <Entry>(key: string, what: string, read: Read<Entry>): readonly Entry[] | undefined =>
    reading.optional(key, readSome(what, read));
  const set = <Entry>(key: string, what: string, read: Read<Entry>): ReadonlySet<Entry> | undefined => {
    const entries = some(key, what, read);
    return entries && new Set(entries);
  };
  return withoutAbsent({
    groups: some('groups', 'group ids, paths or {id, subtree}', readGroup),
    projects: some('projects', 'project ids or paths', readProject),
    runnerClasses: set(
      'runner_classes',
      'runner classes',
      word('a runner class of prices.classes', [...runnerClasses, NO_CLASS]),
    ),
    runnerTags: set('runner_tags', 'tags', (each) => each.text('a tag of a runner')),
    runnerIds: set('runner_ids', 'runner ids', gitlabId('runner')),
    users: set('users', 'user ids', gitlabId('user')),
    refs: some('refs', 'branches and tags', readPath),
    protected: reading.optional('protected', (each) => each.boolean()),
    sources: set('sources', 'pipeline sources', word('a pipeline source', PIPELINE_SOURCES)),
    environments: some('environments', 'environments', readPath),
    jobs: some('jobs', 'job names', readPath),
    variables: reading.optional('variables', readVariableConditions),
  });
}

const readSome =
  <Entry>(what: string, read: Read<Entry>): Read<readonly Entry[]> =>
  (reading) => {
    reading.refuseEmpty(`is empty; leave it out or list ${what}`);
    return reading.each(what, ENTRIES_MAX, read);
  };

function readGroup(reading: Reading): GroupCondition | undefined {
  if (typeof reading.value === 'string') {
    const path = readPath(reading);
    return path && { path };
  }
  if (!isRecord(reading.value)) {
    const id = reading.integer('a group id, a path or {id, subtree}', 1);
    return id === undefined ? undefined : { id, subtree: true };
  }
  const found = reading.fields({ id: gitlabId('group') }, { subtree: (each: Reading) => each.boolean() });
  return found && { id: found.id, subtree: found.subtree ?? true };
}

function readProject(reading: Reading): ProjectCondition | undefined {
  if (typeof reading.value !== 'string') {
    const id = reading.integer('a project id or a path', 1);
    return id === undefined ? undefined : { id };
  }
  const path = readPath(reading);
  return path && { path };
}

export function readWildcard(reading: Reading): Wildcard | undefined {
  const pattern = reading.text('a pattern such as registry.example.com/**/*:*');
  if (pattern === undefined) return undefined;
  const compiled = compileWildcard(pattern);
  return compiled.ok ? compiled.wildcard : reading.refuse(`'${pattern}' ${compiled.problem}`);
}

function readPath(reading: Reading): Wildcard | undefined {
  const wildcard = readWildcard(reading);
  return wildcard && { pattern: wildcard.pattern, matches: remembering(wildcard.matches) };
}

/** More than any policy compares; each is a look-up for every job. */
export const COMPARED_MAX = 100;

const SECRET = /TOKEN|PASSW|SECRET|CREDENTIAL|PRIVATE|JWT|_KEY$|_URL$/i;

export const looksSecret = (name: string): boolean => SECRET.test(name);

export function checkCompared(reading: Reading, name: string): boolean {
  const isName = /^[A-Za-z_]\w{0,254}$/.test(name);
  if (!isName) reading.refuse(`'${name}'; expected the name of a variable`);
  else if (looksSecret(name))
    reading.refuse(`'${name}' looks like a secret: its value would leave the relay`);
  else if (name.startsWith('KUBERNETES_'))
    reading.refuse(`'${name}' has rules of its own: kinds resources and overwrites`);
  else return true;
  return false;
}

export const readValuesByName: Read<ReadonlyMap<string, readonly Wildcard[]>> = (reading) =>
  readByName(reading, 'patterns of values', readSome('patterns of values', readPath));

const CONDITION = 'patterns of values, or true (set) or false (not set)';

function readVariableConditions(reading: Reading): VariableConditions {
  const readPatterns = readSome(CONDITION, readPath);
  const named = readByName(reading, CONDITION, (each) =>
    typeof each.value === 'boolean' ? each.value : readPatterns(each),
  );
  if (named.size === 0 && isRecord(reading.value)) reading.refuse('is empty; leave it out or name variables');
  return named;
}

function readByName<Value>(reading: Reading, what: string, read: Read<Value>): ReadonlyMap<string, Value> {
  const names = isRecord(reading.value) ? Object.keys(reading.value) : [];
  if (!isRecord(reading.value)) reading.expected('{NAME: [patterns of values]}');
  if (names.length > COMPARED_MAX)
    reading.refuse(`names ${names.length} variables; expected at most ${COMPARED_MAX}`);
  const named = new Map<string, Value>();
  for (const name of names.slice(0, COMPARED_MAX)) {
    const each = reading.at(name);
    if (!checkCompared(each, name)) continue;
    const value = each.isThere ? read(each) : each.expected(`a list of ${what}`);
    if (value !== undefined) named.set(name, value);
  }
  return named;
}
