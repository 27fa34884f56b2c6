import type { ZonedSpan } from '../../../functions/answers/rollout/shadow-report.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { type Directory, pathKey } from '../../../policies/directory.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { UsageError } from '../../terminal/command.ts';
import { askedGroup, isAllGroups } from '../evaluation/unknown-place.ts';

/** For the help of every command with `--since` or `--until`. */
export const SPAN_HELP = `Days begin and end in $TOLLGATE_ROLLUP_ZONE, else in UTC; the last one is meant whole.`;

const AGO = /^(\d{1,4})([hdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const EXPECTED = 'expected a time ago (36h, 14d, 2w), a day (2026-11-01) or an instant (2026-11-01T18:00Z)';

/**
 * @param zone - in which days are meant
 * @throws {UsageError} for what is no time, and for a span that ends before it begins.
 */
export function readSpan(since: string, until: string | undefined, nowMs: number, zone: string): ZonedSpan {
  const sinceMs = readTime('since', since, nowMs, zone);
  const untilMs = until === undefined ? nowMs : readTime('until', until, nowMs, zone);
  if (sinceMs < untilMs) return { sinceMs, untilMs, zone };
  const end = until === undefined ? 'now' : `--until "${until}"`;
  throw new UsageError(`--since "${since}": is not before ${end}; expected an earlier one`);
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

/** @param text - an id, a full path or `instance`. Ids decide; a path that was renamed since is found by the directory's. */
export function groupFilter(text: string, directory: Directory) {
  if (isAllGroups(text, directory))
    return { label: 'all groups', unknown: false, counts: () => true, check: () => {} };
  const id = /^\d{1,15}$/.test(text) ? Number(text) : directory.groupByPath.get(pathKey(text))?.id;
  const path = id === undefined ? text : directory.groupById.get(id)?.path;
  const unknown = id === undefined || !directory.groupById.has(id);
  const counts = ({ facts }: JobRecord): boolean => {
    if (id !== undefined && (facts.groupId === id || facts.rootId === id)) return true;
    const chain = facts.groupId === undefined ? undefined : directory.chainById.get(facts.groupId);
    // If the directory has the job's group, it has its ancestors.
    if (chain !== undefined) return chain.some((group) => group.id === id);
    return path !== undefined && isBelow(facts.projectPath, path);
  };
  return { label: path ?? text, unknown, ...askedGroup({ counts, unknown }, text, directory) };
}

const isBelow = (projectPath: string | undefined, group: string): boolean =>
  projectPath !== undefined && pathKey(projectPath).startsWith(`${pathKey(group)}/`);
