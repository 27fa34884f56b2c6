import type { GroupSum, UsedInMonth } from '../../core/usage/index.ts';
import {
  amount,
  count,
  instantMs,
  list,
  maybe,
  micros,
  orNone,
  subject,
  text,
  z,
} from '../reading/schema.ts';
import { FreezeRowSchema, LimitRowSchema, PoolNoteSchema } from '../standing/model.ts';

/**
 * `runs-out-first`: by when the money is gone, what is gone already first, and what only watches after what rejects jobs;
 * `spent`: most first; `name`: by path.
 */
export type OverviewOrder = 'runs-out-first' | 'spent' | 'name';

export interface OverviewQuery {
  /** Part of the path, any case; at most 200 characters. */
  readonly search?: string;
  /** @default `runs-out-first` */
  readonly sort?: OverviewOrder;
  /** Only the children of this group: one step of the tree. `roots`: the topmost groups the viewer sees. */
  readonly under?: number | 'roots';
  /** Only those the viewer owns. */
  readonly mine?: boolean;
  /** `next` or `previous` of a page with the same questions. */
  readonly cursor?: string;
  /** 1–100. @default 50 */
  readonly max?: number;
}

const usedInMonth = {
  settledMicros: micros(),
  heldMicros: micros(),
  seconds: amount(),
  jobs: count(),
};

export type { GroupSum, UsedInMonth };

export const GroupSumSchema = z
  .object({
    total: z
      .object(usedInMonth)
      .openapi({ description: 'What the group itself used, with everything below it.' }),
    rest: z.object(usedInMonth).openapi({
      description:
        '`total` without the groups that are listed. Below 0 where groups were moved here with their usage.',
    }),
    restLabel: text('What the rest is, for people.'),
  })
  .openapi('GroupSum', {
    description: 'With it the `metered` of the rows come to what the group above them used.',
  });

const MeteredSchema = z
  .object({ ...usedInMonth, sinceDay: text('First day of the month, as `2026-11-01`.') })
  .openapi('Metered', { description: 'What it used this month, whatever its budgets count.' });

export type MeteredUsage = z.infer<typeof MeteredSchema>;

export const GroupRowSchema = z
  .object({
    subject: subject(),
    groupId: maybe(count('Only a group has one.')),
    parentId: maybe(count()),
    path: text('Full path of a group or project, name of a class; `The whole GitLab` for the instance.'),
    depth: count('Levels above it that the viewer sees: 0 is the top of their tree.'),
    children: count('Groups right below it.'),
    personal: z.boolean(),
    budget: maybe(LimitRowSchema).openapi({
      description:
        'The budget that runs out first, of money or minutes, of those that reject jobs; one that only watches where there is no other. Absent: it has none, see `metered`.',
    }),
    others: count('How many other limits it has in force.'),
    metered: MeteredSchema,
    frozen: maybe(FreezeRowSchema),
    grants: count('Grants in force or to come, on all of its limits.'),
    pool: maybe(PoolNoteSchema),
  })
  .openapi('GroupRow');

export type GroupRow = z.infer<typeof GroupRowSchema>;

export const OverviewSchema = z
  .object({
    set: orNone(text('The set of limits it shows; absent: none was ever made live.')),
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    orderedAtMs: instantMs(
      'When the oldest of the numbers that decided the order was read; numbers of rows are of `nowMs`.',
    ),
    directoryAtMs: maybe(instantMs('When the group list was last read from GitLab; absent: never.')),
    rows: list(GroupRowSchema),
    total: count('Lines that match, in all.'),
    others: count('Of `total`: projects, runner classes, runners and users with limits of their own.'),
    first: count('1-based number of the first row.'),
    next: maybe(text('The `cursor` of the page after it.')),
    previous: maybe(text('The `cursor` of the page before it.')),
    unranked: count(
      'Groups without a budget of which usage was not read for the order: they come last, by path.',
    ),
    instance: maybe(GroupRowSchema).openapi({
      description: 'The whole instance; only for who sees all.',
    }),
    sum: maybe(GroupSumSchema),
  })
  .openapi('Overview');

export type Overview = z.infer<typeof OverviewSchema>;
