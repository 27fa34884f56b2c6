import { quantile } from '../../local/random.ts';
import { type JobsUse, useByGroup } from './month-use.ts';
import type { RanJob, RanMonth } from './read-month.ts';
import { comment, roomyAmount } from './written-yaml.ts';

interface LimitsDraftOptions {
  readonly zone: string;
  /** GitLab's ids of groups, by full path. */
  readonly groupIds: ReadonlyMap<string, number>;
  /** Full paths of personal namespaces. */
  readonly personal: ReadonlySet<string>;
}

/** Drafted amounts per kind: of a month, and in flight. */
interface DraftedAmounts {
  readonly minutes: number;
  readonly jobs: number;
}

/** Largest groups listed individually, besides patterns. */
const GROUPS_MAX = 500;
const MONTH_DAYS = 30;
const DAY_MS = 86_400_000;

/** The limits as text: defaults by pattern, and groups that used far more by themselves. All in shadow. */
export function draftLimits(month: RanMonth, options: LimitsDraftOptions): string {
  const days = (month.untilMs - month.sinceMs) / DAY_MS;
  const isPersonal = ({ path }: RanJob): boolean =>
    options.personal.has(path.split('/').slice(0, -1).join('/'));
  const ofGroups = month.jobs.filter((job) => job.path !== '' && !isPersonal(job));
  const levels = [
    { pattern: '*', what: 'top-level group', uses: useByGroup(ofGroups, 1) },
    { pattern: '*/*', what: 'group of the second level', uses: useByGroup(ofGroups, 2) },
  ].flatMap((level) => (level.uses.size === 0 ? [] : { ...level, amounts: usualAmounts(level.uses, days) }));
  const larger = levels.flatMap(({ uses, amounts }) =>
    [...uses].flatMap(([path, use]) => {
      const id = options.groupIds.get(path);
      return id === undefined || !isLarger(use, amounts, days) ? [] : { id, path, use };
    }),
  );
  const named = larger.sort((a, b) => b.use.seconds - a.use.seconds).slice(0, GROUPS_MAX);
  const own = useByGroup(
    month.jobs.filter((job) => job.path !== '' && isPersonal(job)),
    1,
  );
  return [
    comment(
      `Drafted by tollgate init from ${month.jobs.length} jobs that ran from ${dayText(month.sinceMs)} to ${dayText(month.untilMs)}. The policies/limits.yaml of Tollgate explains every key.`,
    ),
    comment(
      `Each number is what was used, for ${MONTH_DAYS} days, with a quarter on top and rounded up. All are in shadow: they are counted and reject nobody. Take mode away, or write enforce, group by group. Limits in money (money: 500, per: month) mean something once policy.yaml has prices.`,
    ),
    ...(month.cutRunners.length > 0
      ? [
          comment(
            `Of runners ${month.cutRunners.join(', ')} older jobs are missing here: they ran more than is read.`,
          ),
        ]
      : []),
    '\n',
    comment('Groups that used more than nine of ten others at their level, by themselves.'),
    named.length === 0
      ? 'limits: []\n\n'
      : `limits:\n${named.map((each) => groupText(each, days, options.zone)).join('')}\n`,
    comment('Every other group. Each has a counter of its own; a group counts what runs in it and below.'),
    levels.length === 0
      ? '# No job ran in a group.\ngroup_defaults: []\n\n'
      : `group_defaults:\n${levels.map((level) => levelText(level, options.zone)).join('')}\n`,
    own.size === 0
      ? comment('No job ran in a personal namespace.')
      : `${comment(`Personal namespaces: ${own.size} of them ran jobs; nine of ten used no more.`)}personal_default:\n${pairText('', usualAmounts(own, days), options.zone)}`,
  ].join('');
}

function levelText(
  {
    pattern,
    what,
    uses,
    amounts,
  }: { pattern: string; what: string; uses: ReadonlyMap<string, JobsUse>; amounts: DraftedAmounts },
  zone: string,
): string {
  return `${comment(`Each ${what}: ${uses.size} of them ran jobs; nine of ten used no more.`, '  ')}${pairText(`groups: "${pattern}", `, amounts, zone)}`;
}

const groupText = (
  { id, path, use }: { readonly id: number; readonly path: string; readonly use: JobsUse },
  days: number,
  zone: string,
): string =>
  `${comment(`${path}: ${use.jobs} jobs, ${Math.round(use.seconds / 60)} minutes in ${Math.round(days)} days, at most ${use.peakJobs} at once.`, '  ')}${pairText(`on: { group: ${id} }, `, amountsOf(use, days), zone)}`;

const pairText = (subject: string, { minutes, jobs }: DraftedAmounts, zone: string): string =>
  `  - { ${subject}minutes: ${minutes}, per: month, zone: ${zone}, mode: shadow }\n  - { ${subject}jobs: ${jobs}, mode: shadow }\n`;

const minutesOf = ({ seconds }: JobsUse, days: number): number =>
  (seconds / 60 / Math.max(1, days)) * MONTH_DAYS;

const amountsOf = (use: JobsUse, days: number): DraftedAmounts => ({
  minutes: roomyAmount(minutesOf(use, days)),
  jobs: roomyAmount(use.peakJobs),
});

/** The 90th percentile, per kind. */
function usualAmounts(uses: ReadonlyMap<string, JobsUse>, days: number): DraftedAmounts {
  const all = [...uses.values()];
  const most = (values: readonly number[]): number =>
    roomyAmount(
      quantile(
        values.toSorted((a, b) => a - b),
        0.9,
      ),
    );
  return {
    minutes: most(all.map((use) => minutesOf(use, days))),
    jobs: most(all.map(({ peakJobs }) => peakJobs)),
  };
}

const isLarger = (use: JobsUse, amounts: DraftedAmounts, days: number): boolean =>
  minutesOf(use, days) > amounts.minutes || use.peakJobs > amounts.jobs;

const dayText = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
