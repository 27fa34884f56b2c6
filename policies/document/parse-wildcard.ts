import { remembering } from '../match/remember.ts';
import { compileWildcard, type Wildcard } from '../match/wildcard.ts';
import type { Reading } from './reading.ts';

/** A rule that names more is better written with a wildcard or on their parent. */
const ENTRIES_MAX = 10_000;

/** The entries of a list that must not be empty; undefined if it is absent. */
export function readSome<Entry>(
  reading: Reading,
  what: string,
  read: (each: Reading) => Entry | undefined,
): readonly Entry[] | undefined {
  if (!reading.isThere) return undefined;
  const entries = reading.list(what, ENTRIES_MAX);
  // An empty list would match nothing and look like everything.
  if (Array.isArray(reading.value) && reading.value.length === 0)
    reading.refuse(`is empty; leave it out or list ${what}`);
  return entries.flatMap((each) => read(each) ?? []);
}

export function readWildcard(reading: Reading): Wildcard | undefined {
  const pattern = reading.text('a pattern such as registry.example.com/**/*:*');
  if (pattern === undefined) return undefined;
  const compiled = compileWildcard(pattern);
  return compiled.ok ? compiled.wildcard : reading.refuse(`'${pattern}' ${compiled.problem}`);
}

/** The same, remembering its answers: few paths, refs and values come again and again. */
export function readPath(reading: Reading): Wildcard | undefined {
  const wildcard = readWildcard(reading);
  return wildcard && { pattern: wildcard.pattern, matches: remembering(wildcard.matches) };
}
