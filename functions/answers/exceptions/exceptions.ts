/**
 * Lists grants, freezes and break-glasses that have not ended, of a subject and everything above it, or all.
 */

import { isRecord } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { limitsOn } from '../../../policies/limits/limits.ts';
import { exportedLimits, idOf, subjectOf } from '../../core/limits/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf } from '../reading/scope.ts';
import { subjectsAbove } from '../reading/subjects-above.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { ExceptionRow } from './model.ts';

const LISTS = [
  ['grant', 'grants'],
  ['freeze', 'freezes'],
  ['breakglass', 'breakglass'],
] as const;

export const exceptionsOf =
  ({ desk, places, clock }: ReadContext) =>
  async (subject: string | undefined, viewer: Viewer): Promise<readonly ExceptionRow[]> => {
    const { directory } = (await places()) ?? NOWHERE;
    const scope = scopeOf(viewer.roles, directory);
    const levels =
      subject === undefined ? undefined : [subject, ...subjectsAbove(subject, directory), 'instance'];
    const isAsked = (on: string): boolean => scope.sees(on) && (levels === undefined || levels.includes(on));
    const { document, limits } = await exportedLimits(desk);
    const nowMs = clock.nowMs();
    return LISTS.flatMap(([kind, key]) => {
      const list: unknown = document[key];
      if (!Array.isArray(list)) return [];
      return list.flatMap((entry: unknown, index): readonly ExceptionRow[] => {
        const on = isRecord(entry) ? subjectOf(entry.on) : undefined;
        if (!isRecord(entry) || on === undefined || !isAsked(on)) return [];
        const until = text(entry.until);
        const zone = zoneOf(kind, entry, limitsOn(limits, on));
        if (until !== '' && (readInstant(until, 'end', zone) ?? 0) <= nowMs) return [];
        return [
          {
            kind,
            id: text(entry.id ?? `${kind}-${index + 1}`),
            subject: on,
            what: WHAT[kind](entry),
            from: text(entry.from),
            until,
            zone,
            reason: text(entry.reason),
            by: text(entry.approved_by ?? entry.by),
          },
        ];
      });
    });
  };

type Entry = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

/** A grant's days are its limit's; everything else names its zone itself. */
function zoneOf(kind: ExceptionRow['kind'], entry: Entry, limits: readonly Limit[]): string {
  if (kind === 'grant') return limits.find(({ id }) => id === (entry.limit ?? idOf(entry)))?.zone ?? 'UTC';
  return typeof entry.zone === 'string' ? entry.zone : 'UTC';
}

const WHAT: Readonly<Record<ExceptionRow['kind'], (entry: Entry) => string>> = {
  grant: (entry) => `+${String(entry.amount).replace(/^\+/, '')} on ${String(entry.limit ?? idOf(entry))}`,
  freeze: () => '',
  breakglass: (entry) => `${String(entry.jobs)} jobs, ${String(entry.per ?? 'once')}`,
};
