import { amount, count, day, instantMs, list, maybe, micros, subject, text, z } from '../../core/schema.ts';
import { JOB_KEYS, type JobKey } from '../../core/sheets/sheet-store.ts';

export const SPEND_KEYS = ['group', 'project', 'class', ...JOB_KEYS, 'day', 'month'] as const;
export const JOB_KEY_TEXTS: Readonly<Record<JobKey, string>> = {
  branch: 'branch',
  job: 'job name',
  source: 'source',
  'merge-request': 'merge request',
  outcome: 'outcome',
  schedule: 'schedule',
  user: 'user',
  hour: 'hour of the week',
};

export type SpendKey = (typeof SPEND_KEYS)[number];

const figures = {
  micros: micros('Charged for ended jobs.'),
  heldMicros: micros('Held by live jobs.'),
  jobs: count('All jobs.'),
  seconds: amount('Run time.'),
  rejected: count(),
  ranRejected: count('Part of `rejected`: ran nevertheless.'),
  neverRan: count('Admitted, and released because they never ran.'),
  endUnknown: count('Admitted, and unknown to GitLab since.'),
  unmetered: count('Admitted without the ledger, by the fallback.'),
  bypass: count('Ran without an admission request.'),
  exempt: count('Admitted by an exemption or break-glass.'),
  estimated: count('Ran, and their duration was estimated.'),
  overEstimate: count('Part of `estimated`: took longer than was held for them.'),
  ran: count('Neither rejected nor released: they ran, or still run.'),
  retriesKnown: count('Part of `ran`: GitLab reported if they were a retry.'),
  retries: count('Part of `retriesKnown`: the same job had been tried before.'),
  retryMicros: micros('Part of `micros`: charged for retries.'),
  queuedKnown: count('Part of `ran`: GitLab reported their time in the queue.'),
  queuedSeconds: amount('Time in the queue of the jobs of `queuedKnown`.'),
};

const before = maybe(
  z.object({ micros: micros(), jobs: count(), seconds: amount() }).openapi('SpendBefore', {
    description: 'The same in the previous period. Absent: not requested.',
  }),
);

const SpendRowSchema = z
  .object({
    name: text(
      'A path, a name, a day, a month or an hour of the week, `Mon 09:00`; empty: jobs without a class.',
    ),
    subject: maybe(subject()),
    ...figures,
    before,
  })
  .openapi('SpendRow');

export const SpendReportSchema = z
  .object({
    subject: subject('`instance`, `group/101` or `project/7`.'),
    path: text(),
    fromDay: day('First day.'),
    toDay: day('Last day; today at the latest.'),
    before: maybe(z.object({ fromDay: day(), toDay: day() }), 'Days of the previous period.'),
    by: z.enum(SPEND_KEYS),
    keys: list(z.enum(SPEND_KEYS), 'Other available keys.'),
    currency: text('ISO 4217.'),
    zone: text('IANA zone of the days.'),
    packedAtMs: maybe(instantMs('When its last day was packed; absent: it is current.')),
    rows: list(SpendRowSchema, 'Most expensive first; hours, days and months in their order.'),
    other: z.object({ rows: count('Rows not listed.'), label: text('For people.'), ...figures, before }),
    total: z.object({ ...figures, before }).openapi({ description: '`rows` and `other` together.' }),
    queue: list(
      z.object({
        toSeconds: maybe(count('Upper bound, above that of the step before; absent: no bound.')),
        jobs: count(),
      }),
      'Time in the queue of the jobs of `total.queuedKnown`.',
    ),
    notes: list(z.string(), 'Notes for the reader.'),
  })
  .openapi('SpendReport', { description: 'Spend of a period by one key.' });

export type SpendReport = z.infer<typeof SpendReportSchema>;
export type SpendRow = z.infer<typeof SpendRowSchema>;
export type SpendFigures = Omit<SpendReport['total'], 'before'>;

/** Returns true if the rest is not empty, so that rows and rest add up. */
export const hasOthers = ({ other }: Pick<SpendReport, 'other'>): boolean =>
  other.rows > 0 || other.micros !== 0 || other.jobs !== 0 || (other.before?.micros ?? 0) !== 0;

export interface SpendQuery {
  /** `month`, `last-month`, `quarter`, `last-quarter`, `year`, `last-year`, `2026-11`, `2026-q4`, `2026`. @default `month` */
  readonly period?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** A group's id or path, or `instance`. @default all that is the viewer's */
  readonly group?: string | undefined;
  readonly project?: number | undefined;
  readonly by?: SpendKey | undefined;
  readonly compare?: boolean | undefined;
  readonly top?: number | undefined;
}

export interface SpendUnreadable {
  readonly outcome: 'unreadable';
  readonly asked: 'period' | 'from' | 'to' | 'by';
  readonly sentence: string;
}

export type SpendAnswer =
  | { readonly outcome: 'reported'; readonly report: SpendReport }
  | SpendUnreadable
  /** The directory does not know it, or the viewer does not see it. */
  | { readonly outcome: 'unknown_group' };
