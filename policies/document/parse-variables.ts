import type { VariableConditions } from '../match/conditions.ts';
import type { Wildcard } from '../match/wildcard.ts';
import { readPath, readSome } from './parse-wildcard.ts';
import { isRecord, type Reading } from './reading.ts';

/** More than any policy compares; each is a look-up for every job. */
export const COMPARED_MAX = 100;

const SECRET = /TOKEN|PASSW|SECRET|CREDENTIAL|PRIVATE|JWT|_KEY$|_URL$/i;
const CONDITION = 'patterns of values, or true (set) or false (not set)';
const NAME_EXPECTED = 'the name of a variable';

/** Names of variables that look like a secret's: their values must not leave the relay. */
export const looksSecret = (name: string): boolean => SECRET.test(name);

/** Notes what is wrong with a name whose value rules compare. */
export function checkCompared(reading: Reading, name: string): boolean {
  const problem = problemOf(name);
  if (problem !== undefined) reading.refuse(`'${name}' ${problem}`);
  return problem === undefined;
}

function problemOf(name: string): string | undefined {
  if (!/^[A-Za-z_]\w{0,254}$/.test(name)) return `; expected ${NAME_EXPECTED}`;
  if (looksSecret(name)) return 'looks like a secret: its value would leave the relay';
  if (name.startsWith('KUBERNETES_')) return 'has rules of its own: kinds resources and overwrites';
  return undefined;
}

/** Reads `{NAME: [patterns]}`; absent: none. */
export function readValuesByName(reading: Reading): ReadonlyMap<string, readonly Wildcard[]> {
  const named = new Map<string, readonly Wildcard[]>();
  for (const [name, each] of entriesOf(reading)) {
    const wildcards = readSome(each, 'patterns of values', readPath);
    if (wildcards === undefined) each.expected('a list of patterns of values');
    else named.set(name, wildcards);
  }
  return named;
}

/** Reads `match.variables`: `{NAME: [patterns]}`, or `true` (set) and `false` (not set) instead of a list. */
export function readVariableConditions(reading: Reading): VariableConditions | undefined {
  if (!reading.isThere) return undefined;
  const named = new Map<string, readonly Wildcard[] | boolean>();
  for (const [name, each] of entriesOf(reading)) {
    const wanted = typeof each.value === 'boolean' ? each.value : readSome(each, CONDITION, readPath);
    if (wanted === undefined) each.expected(`a list of ${CONDITION}`);
    else named.set(name, wanted);
  }
  if (named.size === 0 && isRecord(reading.value)) reading.refuse('is empty; leave it out or name variables');
  return named;
}

/** Every variable under it, with its value as written. */
function entriesOf(reading: Reading): readonly (readonly [string, Reading])[] {
  if (!reading.isThere) return [];
  if (!isRecord(reading.value)) {
    reading.expected('{NAME: [patterns of values]}');
    return [];
  }
  const names = Object.keys(reading.value);
  if (names.length > COMPARED_MAX) {
    reading.refuse(`names ${names.length} variables; expected at most ${COMPARED_MAX}`);
    return [];
  }
  return names.flatMap((name) => {
    const each = reading.at(name);
    return checkCompared(each, name) ? [[name, each] as const] : [];
  });
}
