/** Reads the fields that several kinds of entries share: texts, validity, id, author. */

import { isZone } from '../limits/calendar.ts';
import type { Limit } from '../limits/limit.ts';
import type { Validity } from '../limits/period.ts';
import type { Reading } from './reading.ts';
import { readInstant } from './values.ts';

/** Bounds the texts about a limit, because each admission reads the limits. */
const OWNER_CHARACTERS_MAX = 100;
const CONTACT_CHARACTERS_MAX = 200;
const COST_CENTER_CHARACTERS_MAX = 100;
const REASON_CHARACTERS_MAX = 500;

/** Reads `owner`, `contact`, `cost_center` and `reason`. */
export function readTexts(reading: Reading): Pick<Limit, 'owner' | 'contact' | 'costCenter' | 'reason'> {
  const owner = readOwner(reading);
  const contact = readTextField(reading.at('contact'), 'where to reach the owner,', CONTACT_CHARACTERS_MAX);
  const costCenter = readTextField(reading.at('cost_center'), 'a cost center', COST_CENTER_CHARACTERS_MAX);
  const reason = readTextField(reading.at('reason'), 'a reason', REASON_CHARACTERS_MAX);
  return {
    ...(owner !== undefined && { owner }),
    ...(contact !== undefined && { contact }),
    ...(costCenter !== undefined && { costCenter }),
    ...(reason !== undefined && { reason }),
  };
}

export const readOwner = (reading: Reading): string | undefined =>
  readTextField(reading.at('owner'), 'a name', OWNER_CHARACTERS_MAX);

/** Nothing there: undefined. */
export const readTextField = (reading: Reading, what: string, charactersMax: number): string | undefined =>
  reading.isThere ? neededText(reading, what, charactersMax) : undefined;

export const neededText = (reading: Reading, what: string, charactersMax: number): string | undefined =>
  reading.text(
    `${what} of at most ${charactersMax} characters`,
    (text) => text.trim() !== '' && text.length <= charactersMax,
  );

export const VALIDITY_KEYS = ['from', 'until'] as const;

/** Reads the optional `from` and `until`. A day means the whole day in the zone. */
export function readValidity(reading: Reading, zone = 'UTC'): Validity {
  const fromMs = readOpenEdge(reading.at('from'), 'start', zone);
  const untilMs = readOpenEdge(reading.at('until'), 'end', zone);
  checkOrder(reading, fromMs, untilMs);
  return { ...(fromMs !== undefined && { fromMs }), ...(untilMs !== undefined && { untilMs }) };
}

/** One that has to be there. */
export function readEdge(reading: Reading, edge: 'start' | 'end', zone: string): number | undefined {
  const { value } = reading;
  const atMs = typeof value === 'string' ? readInstant(value, edge, zone) : undefined;
  return atMs ?? reading.expected('a day such as 2026-12-31 or an instant such as 2026-12-31T18:00+01:00');
}

/** Reads the zone of days. Returns undefined, with a problem noted, if it is not a zone. */
export const readZone = (reading: Reading, ifAbsent = 'UTC'): string | undefined =>
  reading.at('zone').isThere
    ? reading.at('zone').text('a zone such as Europe/Berlin or UTC', isZone)
    : ifAbsent;

export function checkOrder(reading: Reading, fromMs: number | undefined, untilMs: number | undefined): void {
  if (fromMs !== undefined && untilMs !== undefined && untilMs <= fromMs)
    reading.at('until').expected('a later instant than from');
}

const readOpenEdge = (reading: Reading, edge: 'start' | 'end', zone: string): number | undefined =>
  reading.isThere ? readEdge(reading, edge, zone) : undefined;

/** Names that become part of counter keys, metrics and file names: no `|`, no `/`, no blanks. */
export const isName = (text: string): boolean => /^[a-z0-9][a-z0-9._-]{0,63}$/.test(text);

export const NAME_EXPECTED = 'a name of small letters, digits, dots, dashes and underscores, at most 64';

/** Reads the GitLab user id of the author; the name is stored separately. Absent: undefined. */
export const readUser = (reading: Reading): number | undefined =>
  reading.isThere ? reading.integer("GitLab's id of the user", 1) : undefined;
