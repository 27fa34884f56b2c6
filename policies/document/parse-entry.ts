import { isZone } from '../limits/calendar.ts';
import type { Validity } from '../limits/period.ts';
import type { Read, Reading } from './reading.ts';
import { DURATION_EXPECTED, readDurationSeconds, readInstant } from './values.ts';

export const text =
  (what: string, charactersMax: number): Read<string> =>
  (reading) =>
    reading.text(
      `${what} of at most ${charactersMax} characters`,
      (each) => each.trim() !== '' && each.length <= charactersMax,
    );

/** Goes into one line of mails and files, where a line break would begin a new one. Versions before 0.1 published some. */
const line =
  (what: string, charactersMax: number): Read<string> =>
  (reading) =>
    reading.text(
      `${what} of at most ${charactersMax} characters, without control characters`,
      (each) =>
        each.trim() !== '' &&
        each.length <= charactersMax &&
        (reading.options.carriesUnknown === true || !/\p{Cc}/u.test(each)),
    );

/** A name becomes part of counter keys, metrics and file names: no `|`, no `/`, no blanks. */
export const readName: Read<string> = (reading) =>
  reading.text('a name of small letters, digits, dots, dashes and underscores, at most 64', (each) =>
    /^[a-z0-9][a-z0-9._-]{0,63}$/.test(each),
  );

export const gitlabId =
  (what: string): Read<number> =>
  (reading) =>
    reading.integer(`GitLab's id of the ${what}`, 1);

export const word =
  <const Word extends string>(what: string, words: readonly Word[]): Read<Word> =>
  (reading) =>
    reading.oneOf(what, words);

export const readBoolean: Read<boolean> = (reading) => reading.boolean();

export const readDuration: Read<number> = (reading) =>
  readDurationSeconds(reading.asText) ?? reading.expected(DURATION_EXPECTED);

export const LIMIT_TEXTS = {
  owner: line('a name', 100),
  contact: line('a contact of the owner,', 200),
  costCenter: line('a cost center', 100),
  reason: text('a reason', 500),
};

export const edge =
  (which: 'start' | 'end', zone = 'UTC'): Read<number> =>
  (reading) =>
    readInstant(reading.asText, which, zone) ??
    reading.expected('a day such as 2026-12-31 or an instant such as 2026-12-31T18:00+01:00');

export function readValidity(reading: Reading, zone?: string): Validity {
  const validity = reading.present({ fromMs: edge('start', zone), untilMs: edge('end', zone) });
  checkOrder(reading, validity);
  return validity;
}

export const readZone = (reading: Reading, ifAbsent = 'UTC'): string | undefined =>
  reading.at('zone').isThere
    ? reading.at('zone').text('a zone such as Europe/Berlin or UTC', isZone)
    : ifAbsent;

export function checkOrder(reading: Reading, { fromMs, untilMs }: Validity): void {
  if (fromMs !== undefined && untilMs !== undefined && untilMs <= fromMs)
    reading.at('until').expected('a later instant than from');
}
