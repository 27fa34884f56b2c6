import {
  amount,
  count,
  day,
  instantMs,
  list,
  maybe,
  micros,
  ruleKind,
  subject,
  text,
  z,
} from '../reading/schema.ts';

/** Jobs by rule, most first; a job counts under each rule. */
export const jobsByRule = (description: string) =>
  list(z.object({ rule: text('The rule’s id.'), kind: maybe(ruleKind), jobs: count() })).openapi({
    description,
  });

const RejectedJobSchema = z
  .object({
    jobId: count(),
    decisionId: text('`d-4711-1`'),
    atMs: instantMs(),
    projectId: maybe(count()),
    projectPath: maybe(text()),
    jobName: maybe(text()),
    url: maybe(text('Its page in GitLab, where the address is known.')),
    reasons: list(z.object({ rule: text(), code: text('For programs.'), text: text('For people.') })),
  })
  .openapi('RejectedJob');

export type RejectedJob = z.infer<typeof RejectedJobSchema>;

const RejectionsSchema = z
  .object({
    byRule: jobsByRule(
      'Over the same days; a job that several rules rejected counts under each. Most first.',
    ),
    watchedByRule: jobsByRule('Would have been, by rules that only watch.'),
    latest: list(RejectedJobSchema).openapi({
      description: 'The latest rejected jobs, newest first, at most 20.',
    }),
  })
  .openapi('Rejections');

export type Rejections = z.infer<typeof RejectionsSchema>;

const counted = {
  jobs: count(),
  rejected: count(),
  ranRejected: count('Part of `rejected`: ran all the same, in dry run or past us; no part of `bypass`.'),
  unmetered: count('Let in without the ledger, by the fallback.'),
  bypass: count('Ran without being asked about.'),
  exempt: count('Let in by an exemption or by breaking glass.'),
  settledMicros: micros(),
  heldMicros: micros(),
  seconds: amount(),
};

export const UsageViewSchema = z
  .object({
    fromDay: day('First day.'),
    toDay: day('Last day.'),
    ...counted,
    topProjects: list(z.object({ projectId: count(), path: text(), micros: micros() })).openapi({
      description: 'Most first, at most 20. Projects have none.',
    }),
    otherProjectsMicros: micros(
      'What `settledMicros` and `heldMicros` have beyond `topProjects`: other projects, and days before `topFromDay`.',
    ),
    topFromDay: day('First day that `topProjects` has.'),
    topJobs: list(
      z.object({
        projectId: count(),
        path: text(),
        job: text('Its name.'),
        runs: count('Runs that are remembered.'),
        usualSeconds: amount('Median, seconds.'),
      }),
    ).openapi({
      description:
        'Jobs by name, of the costliest projects, by how long they usually run; most first, at most 20.',
    }),
    runnerClasses: list(
      z.object({ name: text(), micros: micros(), seconds: amount(), jobs: count() }),
    ).openapi({
      description:
        'Of a group or project the days that are packed, from the first of the month of `topFromDay` on. Most first, at most 20.',
    }),
    otherClassesMicros: micros(
      'The same beyond `runnerClasses`: jobs of no class, days before, and of a group or project days that are not packed yet.',
    ),
    rejections: RejectionsSchema,
  })
  .openapi('Usage');

export type UsageView = z.infer<typeof UsageViewSchema>;

export interface UsageQuery {
  readonly subject: string;
  /** 1–92, back from today. @default 31 */
  readonly days?: number;
}

const UsageDaySchema = z.object({ day: day(), admitted: count(), ...counted }).openapi('UsageDay');

export const UsageDaysViewSchema = z
  .object({
    subject: subject(),
    path: text(),
    currency: text('ISO 4217.'),
    zone: text('IANA zone of the days.'),
    days: list(UsageDaySchema),
  })
  .openapi('UsageDays');

export type UsageDaysView = z.infer<typeof UsageDaysViewSchema>;
