import type { Freeze } from '../limits/freeze.ts';
import { withoutAbsent } from '../without-absent.ts';
import { isName, NAME_EXPECTED } from './name.ts';
import { neededText, readOwner, readTextField } from './parse-limit-texts.ts';
import { readSubject } from './parse-subject.ts';
import { readValidity, readZone, VALIDITY_KEYS } from './parse-validity.ts';
import { readUser } from './read-user.ts';
import type { Reading } from './reading.ts';

/** A bound for memory; those that are over may be taken out of the document. */
const FREEZES_MAX = 10_000;
/** Stands on the page of every job it stops. */
const REASON_CHARACTERS_MAX = 200;

/** `by`: who did it, for people; `by_user`: the same by id, so that they may undo it. */
const FREEZE_KEYS = ['on', 'id', ...VALIDITY_KEYS, 'zone', 'reason', 'owner', 'by', 'by_user'] as const;

/** Reads `freezes: [{on, from, until, reason, owner}]`, by subject; undefined: there are none. */
export function readFreezes(
  reading: Reading,
  runnerClasses: readonly string[],
): ReadonlyMap<string, readonly Freeze[]> | undefined {
  const bySubject = new Map<string, Freeze[]>();
  const ids = new Set<string>();
  for (const [index, each] of reading.list('{on, from, until, reason}', FREEZES_MAX).entries()) {
    if (!each.object(FREEZE_KEYS)) continue;
    const freeze = readFreeze(each, `freeze-${index + 1}`, runnerClasses);
    if (freeze === undefined) continue;
    if (ids.has(freeze.id)) each.at('id').expected('an id that no other freeze has');
    ids.add(freeze.id);
    bySubject.set(freeze.subject, [...(bySubject.get(freeze.subject) ?? []), freeze]);
  }
  return bySubject.size === 0 ? undefined : bySubject;
}

function readFreeze(reading: Reading, ordinal: string, runnerClasses: readonly string[]): Freeze | undefined {
  const subject = readSubject(reading.at('on'), runnerClasses);
  const id = reading.at('id').isThere ? reading.at('id').text(NAME_EXPECTED, isName) : ordinal;
  const zone = readZone(reading);
  const validity = readValidity(reading, zone);
  const reason = neededText(reading.at('reason'), 'why nothing starts, in a text', REASON_CHARACTERS_MAX);
  const owner = readOwner(reading);
  const by = readTextField(reading.at('by'), 'who did it, in a text', REASON_CHARACTERS_MAX);
  const byUser = readUser(reading.at('by_user'));
  if (subject === undefined || id === undefined || zone === undefined || reason === undefined)
    return undefined;
  return {
    subject,
    id,
    zone,
    ...validity,
    reason,
    ...withoutAbsent({ owner, by, byUser }),
  };
}
