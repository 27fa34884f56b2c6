/** Schemas of edits of limits. The types are those of limit editing; a compile error shows a difference. */
import type { ChangeRow, HistoryPage, LogEntry } from '../../core/limits/index.ts';
import { count, instantMs, list, maybe, subject, text, unit, z } from '../reading/schema.ts';

export type { ChangeRow, LogEntry };

const fieldValue = (description: string) =>
  z.union([z.number(), z.string(), z.null()]).openapi({ description });

export const ChangeRowSchema = z
  .object({
    about: z.enum(['limit', 'grant', 'freeze', 'breakglass', 'rollout', 'document']),
    subject: subject('`instance` for what holds for the whole document.'),
    path: maybe(text('Full path of the group or project, or name of the class, where one is known.')),
    limit: text(
      'The limit’s id. A grant has that of its limit, a freeze or break-glass its own, a rollout the class of rule.',
    ),
    id: maybe(text('The grant’s, if it has one.')),
    field: text('`amount`, `soft`, `mode` … as limits.yaml has them.'),
    from: fieldValue('`null`: nothing there. Numbers are whole units of `unit`, everything else is text.'),
    to: fieldValue('Likewise.'),
    unit: maybe(unit),
    zone: maybe(text('IANA zone in which the days of `from` and `until` are meant. Absent: UTC.')),
    effect: z.enum(['tightens', 'loosens', 'neutral']),
    whole: maybe(
      z.enum(['added', 'removed']).openapi({ description: 'All of it is new, or all of it goes.' }),
    ),
  })
  .openapi('Change', {
    description: 'One field that differs. A limit that came or went has one row for each of its fields.',
  }) satisfies z.ZodType<ChangeRow>;

export const LogEntrySchema = z
  .object({
    edit: count('1, 2, 3 …'),
    set: text('The set of limits it made live.'),
    atMs: instantMs(),
    actor: text('The name of whoever made it.'),
    userId: maybe(count('GitLab’s id of them.')),
    why: text(),
    source: text('`page`, `cli`, `ssm`, `file limits.csv`'),
    base: maybe(text('The set it was made on.')),
    count: count('How many rows the edit had in all.'),
    rows: maybe(list(ChangeRowSchema)).openapi({
      description:
        'What was changed; only the rows of the subject asked for, if one was. Absent: too much to list here (ask by subject), or, with `count` 0, what it was an edit of could not be read any more.',
    }),
  })
  .openapi('HistoryEntry') satisfies z.ZodType<LogEntry>;

export const HistoryPageSchema = z
  .object({
    entries: list(LogEntrySchema),
    next: maybe(
      count(
        'There may be more: ask for those `before` it. A page with few or no entries may have a next one.',
      ),
    ),
  })
  .openapi('History') satisfies z.ZodType<HistoryPage>;
