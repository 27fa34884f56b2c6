import type { ZonedSpan } from '../../../functions/answers/rollout/shadow-report.ts';
import { billedGroup } from '../../../functions/answers/statement/billed.ts';
import type { Directory } from '../../../policies/directory.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { UsageError } from '../../terminal/command.ts';
import { type ApiRefusal, refusalError } from '../api/answers.ts';
import { notInDirectory } from '../evaluation/unknown-place.ts';

export const SPAN_HELP = `Days begin and end in $TOLLGATE_ROLLUP_ZONE, else in UTC; the last one is meant whole.`;

const AGO = /^(\d{1,4})([hdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const EXPECTED = 'expected a time ago (36h, 14d, 2w), a day (2026-11-01) or an instant (2026-11-01T18:00Z)';

/** @throws {UsageError} for an invalid time, and for a span that ends before it begins. */
export function readSpan(since: string, until: string | undefined, nowMs: number, zone: string): ZonedSpan {
  const sinceMs = readTime('since', since, nowMs, zone);
  const untilMs = until === undefined ? nowMs : readTime('until', until, nowMs, zone);
  if (sinceMs < untilMs) return { sinceMs, untilMs, zone };
  throw new UsageError(`--since "${since}": is not before ${until === undefined ? 'now' : '--until'}`);
}

/** A day is meant whole: from its first instant, or until its last. */
function readTime(flag: 'since' | 'until', text: string, nowMs: number, zone: string): number {
  const [, count, unit = ''] = AGO.exec(text) ?? [];
  const atMs =
    count === undefined
      ? readInstant(text, flag === 'since' ? 'start' : 'end', zone)
      : nowMs - Number(count) * (UNIT_MS[unit] ?? 0);
  if (atMs === undefined) throw new UsageError(`--${flag} "${text}": ${EXPECTED}`);
  return atMs;
}

/** Jobs of `--group`, an id or a path: as on its statement. @throws {UsageError} for an unknown group */
export function groupFilter(text: string | undefined, directory: Directory) {
  const { label, counts, unknown } = billedGroup(text ?? 'instance', directory);
  if (unknown) throw notInDirectory(`--group ${text}`, text ?? '', directory.groupByPath.keys());
  return { counts, ...(text !== undefined && { group: label }) };
}

export function refusedFlag(
  { status, refused }: { readonly status: number; readonly refused: ApiRefusal },
  group: string | undefined,
  { groupByPath }: Directory,
): Error {
  if (status === 404 && group !== undefined)
    return notInDirectory(`--group ${group}`, group, groupByPath.keys());
  const { error, problems: [problem] = [] } = refused;
  if (problem === undefined) return refusalError(status, error);
  return new UsageError(`--${problem.path[0]}: ${problem.message}`);
}
