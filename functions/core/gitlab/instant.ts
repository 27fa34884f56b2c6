/** `2024-06-11 03:13:06 UTC`, as in job webhooks, and ISO 8601 as everywhere else: `2024-06-11T03:13:06.123+02:00`. */
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))? ?(UTC|Z|[+-]\d{2}:?\d{2})$/;

/** Reads a point in time as GitLab writes it, as Unix ms. Undefined for what no calendar or clock shows. */
export function readInstant(text: string): number | undefined {
  const match = INSTANT.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetMinutes = minutesOf(match[8] ?? '');
  if (hour > 23 || minute > 59 || second > 59 || offsetMinutes === undefined) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day));
  // The 30th of February becomes a day in March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || date.getUTCFullYear() !== year) {
    return undefined;
  }
  const fractionMs = Number(`${match[7] ?? ''}000`.slice(0, 3));
  return date.getTime() + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + fractionMs;
}

/** No zone is further from UTC than 14 hours. */
const OFFSET_HOURS_MAX = 14;

function minutesOf(offset: string): number | undefined {
  if (offset === 'UTC' || offset === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(-2));
  if (hours > OFFSET_HOURS_MAX || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
