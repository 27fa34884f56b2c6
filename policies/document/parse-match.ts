import type { GroupCondition, ProjectCondition, VariableConditions } from '../match/compare.ts';
import { memoize } from '../match/remember.ts';
import { compileWildcard, type Wildcard } from '../match/wildcard.ts';
import { gitlabId, readBoolean } from './parse-entry.ts';
import { isRecord, type Read, type Reading } from './reading.ts';

export const PIPELINE_SOURCES: readonly string[] = [
  ...['push', 'web', 'trigger', 'schedule', 'api', 'external', 'pipeline', 'chat', 'webide'],
  ...['merge_request_event', 'external_pull_request_event', 'parent_pipeline', 'ondemand_dast_scan'],
  ...['ondemand_dast_validation', 'security_orchestration_policy', 'container_registry_push', 'duo_workflow'],
];

const ENTRIES_MAX = 10_000;

export const readSome =
  <Entry>(what: string, read: Read<Entry>): Read<readonly Entry[]> =>
  (reading) => {
    reading.refuseEmpty(`is empty; leave it out or list ${what}`);
    return reading.each(what, ENTRIES_MAX, read);
  };

export const readSet =
  <Entry>(what: string, read: Read<Entry>): Read<ReadonlySet<Entry>> =>
  (reading) =>
    new Set(readSome(what, read)(reading));

export function readGroup(reading: Reading): GroupCondition | undefined {
  if (!isRecord(reading.value)) {
    const found = readProject(reading, 'a group id, a path or {id, subtree}');
    return found && ('id' in found ? { ...found, subtree: true } : found);
  }
  const found = reading.fields({ id: gitlabId('group') }, { subtree: readBoolean });
  return found && { subtree: true, ...found };
}

export function readProject(reading: Reading, what = 'a project id or a path'): ProjectCondition | undefined {
  if (typeof reading.value === 'string') {
    const path = readPath(reading);
    return path && { path };
  }
  const id = reading.integer(what, 1);
  return id === undefined ? undefined : { id };
}

export function readWildcard(reading: Reading): Wildcard | undefined {
  const pattern = reading.text('a pattern such as registry.example.com/**/*:*');
  if (pattern === undefined) return undefined;
  const compiled = compileWildcard(pattern);
  return compiled.ok ? compiled.wildcard : reading.refuse(`'${pattern}' ${compiled.problem}`);
}

export function readPath(reading: Reading): Wildcard | undefined {
  const wildcard = readWildcard(reading);
  return wildcard && { ...wildcard, matches: memoize(wildcard.matches) };
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

export function readVariables(reading: Reading): VariableConditions {
  const readPatterns = readSome(CONDITION, readPath);
  const named = readByName(reading, CONDITION, (each) =>
    typeof each.value === 'boolean' ? each.value : readPatterns(each),
  );
  if (named.size === 0 && isRecord(reading.value)) reading.refuse('is empty; leave it out or name variables');
  return named;
}

function readByName<Value>(reading: Reading, what: string, read: Read<Value>): ReadonlyMap<string, Value> {
  const names = reading.keys;
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
