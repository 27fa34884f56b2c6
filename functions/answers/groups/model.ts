import { HistoryPageSchema } from '../../core/limits/edit-model.ts';
import {
  amount,
  count,
  day,
  instantMs,
  list,
  maybe,
  micros,
  mode,
  orNone,
  ruleKind,
  subject,
  text,
  unit,
  z,
} from '../../core/schema.ts';
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

const usedInMonth = { settledMicros: micros(), heldMicros: micros(), seconds: amount(), jobs: count() };

const MeteredSchema = z
  .object({ ...usedInMonth, sinceDay: text('First day of the month, as `2026-11-01`.') })
  .openapi('Metered');

export type MeteredUsage = z.infer<typeof MeteredSchema>;

const GroupRowSchema = z
  .object({
    subject: subject(),
    groupId: maybe(count('Only of groups.')),
    parentId: maybe(count('Absent: a topmost visible group.')),
    personal: z.boolean(),
    path: text('Full path of a group or project, name of a class; `The whole GitLab` for the instance.'),
    children: count('Groups directly below it.'),
    budget: maybe(LimitRowSchema, 'The budget that runs out first; one that rejects jobs leads.'),
    metered: MeteredSchema,
    frozen: maybe(FreezeRowSchema),
  })
  .openapi('GroupRow');

export type GroupRow = z.infer<typeof GroupRowSchema>;

export const OverviewSchema = z
  .object({
    set: orNone(text('The set of limits; absent: none was ever live.')),
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    directoryAtMs: maybe(instantMs('When the group list was last read from GitLab; absent: never.')),
    rows: list(GroupRowSchema),
    total: count('Rows that match, on all pages.'),
    others: count('Part of `total`: projects, runner classes, runners and users with their own limits.'),
    first: count('1-based number of the first row.'),
    next: maybe(text('`cursor` of the next page.')),
    previous: maybe(text('`cursor` of the previous page.')),
    instance: maybe(GroupRowSchema, 'The whole instance, for callers who see everything.'),
  })
  .openapi('Overview');

export type Overview = z.infer<typeof OverviewSchema>;

export const jobsByRule = (description: string) =>
  list(z.object({ rule: text('Id of the rule.'), kind: maybe(ruleKind), jobs: count() }), description);

const RejectedJobSchema = z
  .object({
    ...{ jobId: count(), decisionId: text('`d-4711-1`'), atMs: instantMs() },
    ...{ projectId: maybe(count()), projectPath: maybe(text()), jobName: maybe(text()) },
    url: maybe(text('Its page in GitLab, if the address is known.')),
    reasons: list(z.object({ rule: text(), code: text('For programs.'), text: text('For people.') })),
  })
  .openapi('RejectedJob');

export type RejectedJob = z.infer<typeof RejectedJobSchema>;

const RejectionsSchema = z
  .object({
    byRule: jobsByRule('Over the same days, most first. A job rejected by several rules counts for each.'),
    watchedByRule: jobsByRule('Jobs that rules in mode shadow or warn would have rejected.'),
    latest: list(RejectedJobSchema, 'The latest rejected jobs, newest first, at most 20.'),
  })
  .openapi('Rejections');

export type Rejections = z.infer<typeof RejectionsSchema>;

const counted = {
  jobs: count(),
  rejected: count(),
  ranRejected: count('Part of `rejected`: ran nevertheless. Not in `bypass`.'),
  unmetered: count('Admitted without the ledger, by the fallback.'),
  bypass: count('Ran without an admission request.'),
  exempt: count('Admitted by an exemption or break-glass.'),
  settledMicros: micros(),
  heldMicros: micros(),
  seconds: amount(),
};
export const COUNTED = Object.keys(counted) as readonly (keyof typeof counted)[];

const UsageViewSchema = z
  .object({
    ...{ fromDay: day('First day.'), toDay: day('Last day.') },
    ...counted,
    topProjects: list(z.object({ projectId: count(), path: text(), micros: micros() }), 'At most 20.'),
    otherProjectsMicros: micros('Other projects, and days before the last 92.'),
    rejections: RejectionsSchema,
  })
  .openapi('Usage');

export type UsageView = z.infer<typeof UsageViewSchema>;

export const UsageDaysViewSchema = z
  .object({
    subject: subject(),
    path: text(),
    currency: text('ISO 4217.'),
    zone: text('IANA zone of the days.'),
    days: list(z.object({ day: day(), admitted: count(), ...counted }).openapi('UsageDay')),
  })
  .openapi('UsageDays');

export type UsageDaysView = z.infer<typeof UsageDaysViewSchema>;

const may = z.boolean();
const MaySchema = z
  .object({ tighten: may, loosen: may, grant: may, freeze: may, breakGlass: may, rollOut: may, ask: may })
  .openapi('May', { description: 'Rights of the caller here. Each edit checks them again.' });

export type SubjectRights = z.infer<typeof MaySchema>;

const BurnUpSchema = z
  .object({
    limit: text('Its id.'),
    unit,
    period: PeriodRowSchema,
    amount: maybe(amount('In force now; absent: unlimited.')),
    softAmount: maybe(amount()),
    days: list(DayTotalSchema.extend({ used: amount() }), 'Up to today. `total` includes held amounts.'),
    ahead: list(DayForecastSchema, 'From today to the end of the period; empty: unknown, or it has no end.'),
    unexplained: amount('What the counter has beyond the days; part of today’s total. Below 0: it has less.'),
  })
  .openapi('BurnUp', { description: 'Use day by day against the limit.' });

export type BurnUpChart = z.infer<typeof BurnUpSchema>;

export const SubjectViewSchema = z
  .object({
    set: orNone(text('The set of limits; absent: none was ever live.')),
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    zone: text('IANA zone of dates in edits: that of its own limits, else of those above.'),
    subject: subject(),
    kind: z.enum(['instance', 'group', 'project', 'runner-class']),
    path: text('Full path, or name of the class.'),
    above: list(z.object({ subject: subject(), path: text() }), 'Visible groups above, topmost first.'),
    limits: list(LimitRowSchema, 'All its limits, own and default, in force or not.'),
    caps: list(LimitRowSchema, 'Caps on each pipeline, job or user here: `each` says which.'),
    limitsAbove: list(
      z.object({
        ...{ label: text(), unit, amount: amount(), left: amount() },
        ...{ periodLabel: maybe(text()), contact: maybe(text()) },
      }),
      'Limits above that the caller does not see, as far as the group’s disclosure allows.',
    ),
    burnUp: maybe(BurnUpSchema),
    usage: UsageViewSchema,
    grants: list(GrantRowSchema),
    freezes: list(FreezeRowSchema, 'In force and to come, its own and those from above.'),
    rollout: maybe(z.object({ cost: maybe(mode), capacity: maybe(mode) }), 'Modes during a rollout.'),
    history: HistoryPageSchema,
    children: list(GroupRowSchema, 'By path, at most 25: `GET /groups?under=` lists more.'),
    childCount: count(),
    may: MaySchema,
  })
  .openapi('Subject');

export type SubjectView = z.infer<typeof SubjectViewSchema>;

export interface CoverageQuery extends Pick<OverviewQuery, 'cursor' | 'max'> {
  readonly group?: number;
  readonly days?: number;
}

const coveredJobs = {
  ran: count('Jobs that ran and have ended.'),
  asked: count('Part of `ran`: with an admission request.'),
  bypass: count('Part of `ran`: without one, charged afterwards. `asked` and `bypass` add up to `ran`.'),
};

const coverageCounts = {
  ...coveredJobs,
  share: maybe(z.number(), '`asked` ÷ `ran`, 0 to 1; absent: no job ran.'),
  lastBypassDay: maybe(day('Last of these days with a bypassed job.')),
};
const ranRejected = count('Part of `asked`: rejected, and ran nevertheless.');

const CoveredGroupSchema = z
  .object({ subject: subject(), path: text(), ...coverageCounts, ranRejected })
  .openapi('CoveredGroup');

export type CoveredGroup = z.infer<typeof CoveredGroupSchema>;

const CoveredRunnerSchema = z
  .object({
    runnerId: count('GitLab’s id of the runner.'),
    description: maybe(text('Absent: unknown.')),
    version: maybe(text('Of GitLab Runner; absent: unknown.')),
    ...coverageCounts,
    remedy: maybe(text('What to do at this runner.')),
  })
  .openapi('CoveredRunner');

export type CoveredRunnerRow = z.infer<typeof CoveredRunnerSchema>;

export const CoverageViewSchema = z
  .object({
    subject: maybe(subject('The requested group; absent: several groups of the caller together.')),
    path: text(),
    fromDay: day('First day.'),
    toDay: day('Last day, which is today.'),
    total: z.object({ ...coverageCounts, ranRejected }).openapi({ description: 'All jobs of these days.' }),
    note: maybe(text('A note about all runners.')),
    groups: list(CoveredGroupSchema, 'Groups one level below, at most 500, most bypassed jobs first.'),
    otherGroups: z.object(coveredJobs).openapi({ description: '`total` without `groups`; may be below 0.' }),
    runners: list(CoveredRunnerSchema, 'Most bypassed jobs first.'),
    next: maybe(text('`cursor` of the next page of runners.')),
    runnersTotal: count('Runners with a job.'),
    runnersBypassing: count('Part of them: with a bypassed job.'),
    unknownRunner: z.object(coveredJobs).openapi({ description: 'Jobs whose runner GitLab did not name.' }),
    otherRunners: z.object(coveredJobs).openapi({ description: 'Beyond a hundred of a group and day.' }),
  })
  .openapi('Coverage');

export type CoverageView = z.infer<typeof CoverageViewSchema>;
