import { count, day, list, maybe, subject, text, z } from '../reading/schema.ts';

export interface CoverageQuery {
  /** @default all the viewer sees */
  readonly group?: number;
  /** 1–31, back from today. @default 7 */
  readonly days?: number;
  readonly cursor?: string;
  /** Runners: 1–1000. @default 100 */
  readonly max?: number;
}

const counted = {
  ran: count('Jobs that ran and have ended.'),
  asked: count('Part of `ran`: GitLab asked about them before they ran.'),
  bypass: count('Part of `ran`: nobody asked; charged afterwards. `asked` and `bypass` come to `ran`.'),
};

const sharedCounts = {
  ...counted,
  share: maybe(z.number()).openapi({ description: '`asked` ÷ `ran`, 0 to 1; absent where no job ran.' }),
  lastBypassDay: maybe(day('Last of these days on which a job was not asked about.')),
};

const CoveredGroupSchema = z
  .object({
    subject: subject(),
    path: text(),
    ...sharedCounts,
    ranRejected: count('Part of `asked`: rejected, and ran all the same.'),
  })
  .openapi('CoveredGroup');

export type CoveredGroup = z.infer<typeof CoveredGroupSchema>;

export const BYPASS_REASONS = ['too_old', 'never_asks', 'asks_at_times'] as const;

const CoveredRunnerSchema = z
  .object({
    runnerId: count('GitLab’s id of the runner.'),
    description: maybe(text('Absent: not known.')),
    version: maybe(text('Of GitLab Runner; absent: not known.')),
    ...sharedCounts,
    reason: maybe(z.enum(BYPASS_REASONS)).openapi({
      description: 'Why jobs pass by, probably; absent where all were asked about.',
    }),
    remedy: maybe(text('What to do at this runner.')),
  })
  .openapi('CoveredRunner');

export type CoveredRunnerRow = z.infer<typeof CoveredRunnerSchema>;

export const CoverageViewSchema = z
  .object({
    subject: maybe(subject('What was asked for; absent: several groups of the viewer together.')),
    path: text(),
    fromDay: day('First day.'),
    toDay: day('Last day, which is today.'),
    total: CoveredGroupSchema.pick({
      ran: true,
      asked: true,
      bypass: true,
      share: true,
      lastBypassDay: true,
      ranRejected: true,
    }).openapi({ description: 'All jobs of these days.' }),
    note: maybe(text('What is to be known of all runners at once.')),
    groups: list(CoveredGroupSchema).openapi({
      description: 'The groups one step below, at most 500, those with most jobs that passed by first.',
    }),
    otherGroups: z.object(counted).openapi({
      description:
        '`total` without `groups`. Below 0 where groups were moved here: their jobs stay where they ran.',
    }),
    runners: list(CoveredRunnerSchema).openapi({
      description: 'Those with most jobs that passed by first.',
    }),
    next: maybe(text('The `cursor` of the page of runners after it.')),
    runnersTotal: count('Runners in all that ran a job.'),
    runnersBypassing: count('Those of them of which some job was not asked about.'),
    unknownRunner: z.object(counted).openapi({ description: 'Jobs whose runner GitLab did not name.' }),
    otherRunners: z.object(counted).openapi({
      description:
        'Jobs of runners that are not told apart: beyond the first hundred of a group and day, or of groups not read.',
    }),
  })
  .openapi('Coverage');

export type CoverageView = z.infer<typeof CoverageViewSchema>;
