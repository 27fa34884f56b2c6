const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** GitLab's longest job timeout is a month. */
const DURATION_SECONDS_MAX = 31 * 86_400;

export const DURATION_EXPECTED = `a duration such as 90s, 10m or 2h, at most ${DURATION_SECONDS_MAX / 86_400}d`;

/** `90s`, `10m`, `2h`, `1h 30m` → seconds; undefined for anything else, and for 0. */
export function readDurationSeconds(text: string): number | undefined {
  if (!/^\d{1,8}[smhd]( ?\d{1,8}[smhd]){0,3}$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g))
    seconds += Number(count) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  return seconds > 0 && seconds <= DURATION_SECONDS_MAX ? seconds : undefined;
}
