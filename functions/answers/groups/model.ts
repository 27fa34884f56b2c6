import { HistoryPageSchema } from '../../core/limits/edit-model.ts';
import * as s from '../../core/schema.ts';
import { mode, ruleKind, unit, z } from '../../core/schema.ts';
import {
  DayForecastSchema,
  DayTotalSchema,
  FreezeRowSchema,
  GrantRowSchema,
  LimitRowSchema,
  PeriodRowSchema,
} from '../status/model.ts';

/** `runs-out-first`: limits that reject before those that only warn, then the soonest to run out; `spent`: most first. */
export type OverviewOrder = 'runs-out-first' | 'spent' | 'name';

export interface OverviewQuery {
  readonly search?: string;
  readonly sort?: OverviewOrder;
  /** Only the children of this group. `roots`: the topmost groups that the caller sees. */
  readonly under?: number | 'roots';
  readonly mine?: boolean;
  readonly cursor?: string;
  readonly max?: number;
}

const MeteredSchema = z
  .object({
    ...{ settledMicros: s.micros(), heldMicros: s.micros(), seconds: s.amount(), jobs: s.count() },
    sinceDay: s.text('First day of the month, as `2026-11-01`.'),
  })
  .openapi('Metered');

const GroupRowSchema = z
  .object({
    subject: s.subject(),
    groupId: s.maybe(s.count('Only of groups.')),
    parentId: s.maybe(s.count('Absent: a topmost visible group.')),
    personal: z.boolean(),
    path: s.text('Full path of a group or project, name of a class; `The whole GitLab` for the instance.'),
    children: s.count('Groups directly below it.'),
    budget: s.maybe(LimitRowSchema, 'The budget that runs out first; one that rejects jobs leads.'),
    metered: MeteredSchema,
    frozen: s.maybe(FreezeRowSchema),
  })
  .openapi('GroupRow');

export type GroupRow = z.infer<typeof GroupRowSchema>;

export const OverviewSchema = z
  .object({
    set: s.orNone(s.text('The set of limits; absent: none was ever live.')),
    currency: s.text('ISO 4217.'),
    nowMs: s.instantMs(),
    directoryAtMs: s.maybe(s.instantMs('When the group list was last read from GitLab; absent: never.')),
    rows: s.list(GroupRowSchema),
    total: s.count('Rows that match, on all pages.'),
    others: s.count('Part of `total`: projects, runner classes, runners and users with their own limits.'),
    first: s.count('1-based number of the first row.'),
    next: s.maybe(s.text('`cursor` of the next page.')),
    previous: s.maybe(s.text('`cursor` of the previous page.')),
    instance: s.maybe(GroupRowSchema, 'The whole instance, for callers who see everything.'),
  })
  .openapi('Overview');

export type Overview = z.infer<typeof OverviewSchema>;

export const jobsByRule = (description: string) =>
  s.list(
    z.object({ rule: s.text('Id of the rule.'), kind: s.maybe(ruleKind), jobs: s.count() }),
    description,
  );

const RejectedJobSchema = z
  .object({
    ...{ jobId: s.count(), decisionId: s.text('`d-4711-1`'), atMs: s.instantMs() },
    ...{ projectId: s.maybe(s.count()), projectPath: s.maybe(s.text()), jobName: s.maybe(s.text()) },
    url: s.maybe(s.text('Its page in GitLab, if the address is known.')),
    reasons: s.list(z.object({ rule: s.text(), code: s.text('For programs.'), text: s.text('For people.') })),
  })
  .openapi('RejectedJob');

const RejectionsSchema = z
  .object({
    byRule: jobsByRule('Over the same days, most first. A job rejected by several rules counts for each.'),
    watchedByRule: jobsByRule('Jobs that rules in mode shadow or warn would have rejected.'),
    latest: s.list(RejectedJobSchema, 'The latest rejected jobs, newest first, at most 20.'),
  })
  .openapi('Rejections');

export type Rejections = z.infer<typeof RejectionsSchema>;

const counted = {
  jobs: s.count(),
  rejected: s.count(),
  ranRejected: s.count('Part of `rejected`: ran nevertheless. Not in `bypass`.'),
  unmetered: s.count('Admitted without the ledger, by the fallback.'),
  bypass: s.count('Ran without an admission request.'),
  exempt: s.count('Admitted by an exemption or break-glass.'),
  settledMicros: s.micros(),
  heldMicros: s.micros(),
  seconds: s.amount(),
};
export const COUNTED = Object.keys(counted) as readonly (keyof typeof counted)[];

const UsageViewSchema = z
  .object({
    ...{ fromDay: s.day('First day.'), toDay: s.day('Last day.') },
    ...counted,
    topProjects: s.list(
      z.object({ projectId: s.count(), path: s.text(), micros: s.micros() }),
      'At most 20.',
    ),
    otherProjectsMicros: s.micros('Other projects, and days before the last 92.'),
    rejections: RejectionsSchema,
  })
  .openapi('Usage');

export type UsageView = z.infer<typeof UsageViewSchema>;

export const UsageDaysViewSchema = z
  .object({
    subject: s.subject(),
    path: s.text(),
    currency: s.text('ISO 4217.'),
    zone: s.text('IANA zone of the days.'),
    days: s.list(z.object({ day: s.day(), admitted: s.count(), ...counted }).openapi('UsageDay')),
  })
  .openapi('UsageDays');

export type UsageDaysView = z.infer<typeof UsageDaysViewSchema>;

const may = z.boolean();
const MaySchema = z
  .object({ tighten: may, loosen: may, grant: may, freeze: may, breakGlass: may, rollOut: may, ask: may })
  .openapi('May', { description: 'Rights of the caller here. Each edit checks them again.' });

const BurnUpSchema = z
  .object({
    limit: s.text('Its id.'),
    unit,
    period: PeriodRowSchema,
    amount: s.maybe(s.amount('In force now; absent: unlimited.')),
    softAmount: s.maybe(s.amount()),
    days: s.list(DayTotalSchema.extend({ used: s.amount() }), 'Up to today. `total` includes held amounts.'),
    ahead: s.list(
      DayForecastSchema,
      'From today to the end of the period; empty: unknown, or it has no end.',
    ),
    unexplained: s.amount(
      'The counter minus the days; part of today’s total. Negative: the counter has less.',
    ),
  })
  .openapi('BurnUp', { description: 'Use day by day against the limit.' });

export type BurnUpChart = z.infer<typeof BurnUpSchema>;

export const SubjectViewSchema = z
  .object({
    set: s.orNone(s.text('The set of limits; absent: none was ever live.')),
    currency: s.text('ISO 4217.'),
    nowMs: s.instantMs(),
    zone: s.text('IANA zone of the deployment, for dates in edits.'),
    subject: s.subject(),
    kind: z.enum(['instance', 'group', 'project', 'runner-class']),
    path: s.text('Full path, or name of the class.'),
    above: s.list(z.object({ subject: s.subject(), path: s.text() }), 'Visible groups above, topmost first.'),
    limits: s.list(LimitRowSchema, 'All its limits, own and default, in force or not.'),
    caps: s.list(LimitRowSchema, 'Caps on each pipeline, job or user here: `each` says which.'),
    limitsAbove: s.list(
      z.object({
        ...{ label: s.text(), unit, amount: s.amount(), left: s.amount() },
        ...{ periodLabel: s.maybe(s.text()), contact: s.maybe(s.text()) },
      }),
      'Limits above that the caller does not see, as far as the group’s disclosure allows.',
    ),
    burnUp: s.maybe(BurnUpSchema),
    usage: UsageViewSchema,
    grants: s.list(GrantRowSchema),
    freezes: s.list(FreezeRowSchema, 'In force and to come, its own and those from above.'),
    rollout: s.maybe(z.object({ cost: s.maybe(mode), capacity: s.maybe(mode) }), 'Modes during a rollout.'),
    history: HistoryPageSchema,
    children: s.list(GroupRowSchema, 'By path, at most 25: `GET /groups?under=` lists more.'),
    childCount: s.count(),
    may: MaySchema,
  })
  .openapi('Subject');

export type SubjectView = z.infer<typeof SubjectViewSchema>;

export interface CoverageQuery extends Pick<OverviewQuery, 'cursor' | 'max'> {
  readonly group?: number;
  readonly days?: number;
}

const coveredJobs = {
  ran: s.count('Jobs that ran and have ended.'),
  asked: s.count('Part of `ran`: with an admission request.'),
  bypass: s.count('Part of `ran`: without one, charged afterwards. `asked` and `bypass` add up to `ran`.'),
};

const coverageCounts = {
  ...coveredJobs,
  share: s.maybe(z.number(), '`asked` ÷ `ran`, 0 to 1; absent: no job ran.'),
  lastBypassDay: s.maybe(s.day('Last of these days with a bypassed job.')),
};
const ranRejected = s.count('Part of `asked`: rejected, and ran nevertheless.');

const CoveredGroupSchema = z
  .object({ subject: s.subject(), path: s.text(), ...coverageCounts, ranRejected })
  .openapi('CoveredGroup');

export type CoveredGroup = z.infer<typeof CoveredGroupSchema>;

const CoveredRunnerSchema = z
  .object({
    runnerId: s.count('GitLab’s id of the runner.'),
    description: s.maybe(s.text('Absent: unknown.')),
    version: s.maybe(s.text('Of GitLab Runner; absent: unknown.')),
    ...coverageCounts,
    remedy: s.maybe(s.text('Remedy at this runner.')),
  })
  .openapi('CoveredRunner');

export type CoveredRunnerRow = z.infer<typeof CoveredRunnerSchema>;

export const CoverageViewSchema = z
  .object({
    subject: s.maybe(s.subject('The requested group; absent: several groups of the caller together.')),
    path: s.text(),
    fromDay: s.day('First day.'),
    toDay: s.day('Last day, which is today.'),
    total: z.object({ ...coverageCounts, ranRejected }).openapi({ description: 'All jobs of these days.' }),
    note: s.maybe(s.text('A note about all runners.')),
    groups: s.list(CoveredGroupSchema, 'Groups one level below, at most 500, most bypassed jobs first.'),
    otherGroups: z.object(coveredJobs).openapi({ description: '`total` without `groups`; may be below 0.' }),
    runners: s.list(CoveredRunnerSchema, 'Most bypassed jobs first.'),
    next: s.maybe(s.text('`cursor` of the next page of runners.')),
    runnersTotal: s.count('Runners with a job.'),
    runnersBypassing: s.count('With a bypassed job.'),
    unknownRunner: z.object(coveredJobs).openapi({ description: 'Jobs whose runner GitLab did not name.' }),
    otherRunners: z.object(coveredJobs).openapi({ description: 'Beyond a hundred of a group and day.' }),
  })
  .openapi('Coverage');

export type CoverageView = z.infer<typeof CoverageViewSchema>;
