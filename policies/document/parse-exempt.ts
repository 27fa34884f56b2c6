import type { KnownNames } from '../kinds/rule-kind.ts';
import type { Exemption } from '../match/exemption.ts';
import { readInstant } from './instant.ts';
import { CONDITION_KEYS, readConditions } from './parse-match.ts';
import { readZone } from './parse-validity.ts';
import type { Reading } from './reading.ts';

/** More exemptions than this are a rule that fits nobody. */
const EXEMPTIONS_MAX = 1_000;
const TEXT_CHARACTERS_MAX = 200;

/**
 * Reads a rule's `exempt`: conditions as in `match`, all of which must hold, a reason, an end, maybe a ticket, and the zone
 * of the end where it is not the policy's.
 */
export const readExempt = (reading: Reading, names: KnownNames): readonly Exemption[] =>
  reading
    .list('{groups, …, reason, until}', EXEMPTIONS_MAX)
    .flatMap((each) => readExemption(each, names) ?? []);

function readExemption(
  reading: Reading,
  { runnerClasses, zone: ofPolicy }: KnownNames,
): Exemption | undefined {
  if (!reading.object([...CONDITION_KEYS, 'reason', 'until', 'zone', 'ticket'])) return undefined;
  const conditions = readConditions(reading, runnerClasses);
  // An exemption without conditions would lift the whole rule, which `mode: off` says honestly.
  if (!CONDITION_KEYS.some((key) => reading.at(key).isThere))
    reading.refuse(`names no jobs; expected one of ${CONDITION_KEYS.join(', ')}`);
  const reason = reading.at('reason').text(`a reason of at most ${TEXT_CHARACTERS_MAX} characters`, isText);
  const zone = readZone(reading, ofPolicy) ?? ofPolicy;
  const untilMs = readUntil(reading.at('until'), zone);
  const ticket = reading.at('ticket').isThere ? reading.at('ticket').text('a ticket', isText) : undefined;
  if (reason === undefined || untilMs === undefined) return undefined;
  return {
    conditions,
    reason,
    ...(untilMs !== 'never' && { untilMs }),
    ...(ticket !== undefined && { ticket }),
  };
}

function readUntil(reading: Reading, zone: string): number | 'never' | undefined {
  if (reading.value === 'never') return 'never';
  const untilMs = typeof reading.value === 'string' ? readInstant(reading.value, 'end', zone) : undefined;
  return (
    untilMs ??
    reading.expected("the last day such as 2026-12-31, an instant such as 2026-12-31T18:00Z, or 'never'")
  );
}

const isText = (text: string): boolean => text.trim() !== '' && text.length <= TEXT_CHARACTERS_MAX;
