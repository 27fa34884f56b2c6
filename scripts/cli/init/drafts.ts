/** The texts of the three files that tollgate init drafts, with where each number comes from. */
import type { GitLabGroup } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { oneLine } from '../../../policies/text/plain-text.ts';
import { quantile } from '../../local/random.ts';
import { wrapped } from '../../terminal/table.ts';
import type { RunnerWithManagers } from '../fleet/ls-command.ts';
import { PRICES_TO_FILL } from '../policy/validate-command.ts';

export interface RanJob {
  readonly runnerId: number;
  readonly projectId: number;
  readonly path: string;
  readonly startMs: number;
  readonly endMs: number;
}

interface RanMonth {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly jobs: readonly RanJob[];
}

type JobsUse = ReturnType<typeof sumUse>;

function sumUse(jobs: readonly RanJob[]) {
  const lengths = jobs.map(({ startMs, endMs }) => Math.max(0, endMs - startMs) / 1000).sort((a, b) => a - b);
  return {
    jobs: jobs.length,
    seconds: Math.round(lengths.reduce((sum, each) => sum + each, 0)),
    peakJobs: countPeak(jobs),
    usualSeconds: jobs.length === 0 ? 0 : Math.ceil(quantile(lengths, 0.9)),
  };
}

/** The use of each group at one level of the tree: 1 is the top-level groups. A group's use has that of all below it. */
function useByGroup(jobs: readonly RanJob[], level: number): ReadonlyMap<string, JobsUse> {
  const deep = jobs.filter(({ path }) => path.split('/').length > level);
  const byPath = Map.groupBy(deep, ({ path }) => path.split('/').slice(0, level).join('/'));
  return new Map([...byPath].map(([path, own]) => [path, sumUse(own)]));
}

/** A job that ends when another starts does not overlap it. */
function countPeak(jobs: readonly RanJob[]): number {
  const events = jobs
    .filter(({ startMs, endMs }) => endMs > startMs)
    .flatMap(({ startMs, endMs }) => [[startMs, 1] as const, [endMs, -1] as const])
    .sort(([a, by], [b, other]) => a - b || by - other);
  let [running, peak] = [0, 0];
  for (const [, by] of events) {
    running += by;
    peak = Math.max(peak, running);
  }
  return peak;
}

const CLASSES_MAX = 60;
const TAGS_MAX = 50;
const NAME_CHARACTERS_MAX = 60;
const ESTIMATE_SECONDS = 600;
const RUNS_MIN = 20;

export function draftPolicy(
  runners: readonly RunnerWithManagers[],
  month: Pick<RanMonth, 'jobs'>,
  { currency, zone }: { readonly currency: string; readonly zone: string },
): string {
  const all = groupByTags(runners, month.jobs);
  const classes = all.slice(0, CLASSES_MAX).sort((a, b) => b.tags.length - a.tags.length);
  const fallback = all.find(({ untagged }) => untagged) ?? all[0];
  const { jobs, usualSeconds } = sumUse(month.jobs);
  const estimate = jobs >= RUNS_MIN ? usualSeconds : ESTIMATE_SECONDS;
  const left = all.length - classes.length;
  return `${comment('Drafted by tollgate init from the runners of GitLab. The policies/policy.yaml of Tollgate explains every key.')}
${comment('To be chosen: the currency of all amounts.')}currency: ${currency}
zone: ${zone}

prices:
${comment(`To be filled: GitLab knows no prices, so all of them are 0 and money limits stop no job. tollgate policy validate warns until the version is another one than ${PRICES_TO_FILL}.`, '  ')}  version: ${PRICES_TO_FILL}
${comment(`One class per set of tags, those with more tags first, because the first that matches wins. GitLab sends no executor, CPU or memory: write cpu, memory and overwrites where limits are to count them.${left > 0 ? ` ${left} sets of tags that were used least are left out; they count as default_class.` : ''}`, '  ')}  classes:
${classes.map(classText).join('') || NO_RUNNERS}  default_class: ${quotedText(fallback?.name ?? 'any')}

${comment(jobs >= RUNS_MIN ? `Nine of ten of the ${jobs} jobs were over after so long.` : 'Too few jobs ran to estimate their duration.')}estimate: { default: ${minutesText(estimate)}, timeout: 1h }

${comment('To be filled: whose jobs deploy Tollgate itself, so that no rule locks them out. tollgate policy validate warns until it is there.')}# platform:
#   groups: []

${comment('The modes of limits stand in limits.yaml, all of them shadow: no job is rejected. Rules about images, users and the like: tollgate policy import config.toml.')}rules:
  - { id: budgets, kind: budget, mode: enforce }
  - { id: jobs-at-once, kind: concurrency, mode: enforce }
`;
}

const NO_RUNNERS = '    - { name: any, tags: [], rate_per_minute: 0 }\n';

function classText({ name, tags, runnerIds, use }: ReturnType<typeof groupByTags>[number]): string {
  const minutes = Math.round(use.seconds / 60);
  const about = `${runnerIds.length} runners: ${use.jobs} jobs, ${minutes} minutes, at most ${use.peakJobs} running together.`;
  const usual = `      estimate: ${minutesText(use.usualSeconds)}   # nine of ten were over\n`;
  return `${comment(about, '    ')}    - name: ${quotedText(name)}
      tags: [${tags.map(quotedText).join(', ')}]
${tags.length === 0 ? `      runner_ids: [${runnerIds.join(', ')}]\n` : ''}      rate_per_minute: 0   # to be filled
${use.jobs >= RUNS_MIN ? usual : ''}`;
}

function groupByTags(runners: readonly RunnerWithManagers[], ran: readonly RanJob[]) {
  const jobs = Map.groupBy(ran, ({ runnerId }) => runnerId);
  const byTags = Map.groupBy(runners, ({ runner }) =>
    JSON.stringify(runner.tags.toSorted().slice(0, TAGS_MAX)),
  );
  const names = new Set(['none']);
  return [...byTags]
    .map(([key, same]) => {
      const runnerIds = same.map(({ runner }) => runner.id);
      return {
        tags: JSON.parse(key) as readonly string[],
        runnerIds,
        untagged: same.some(({ runner }) => runner.runUntagged),
        use: sumUse(runnerIds.flatMap((id) => jobs.get(id) ?? [])),
      };
    })
    .sort((a, b) => b.use.seconds - a.use.seconds || (a.runnerIds[0] ?? 0) - (b.runnerIds[0] ?? 0))
    .map((each) => ({ ...each, name: nameOf(each.tags, names) }));
}

function nameOf(tags: readonly string[], taken: Set<string>): string {
  const plain = (tags.length === 0 ? 'untagged' : tags.join('-'))
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/[._-]+$/, '');
  const base = plain === '' ? 'class' : plain;
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  taken.add(name);
  return name;
}

const GROUPS_MAX = 500;
const MONTH_DAYS = 30;
const LEVELS = [
  ['*', 'top-level group', 1],
  ['*/*', 'group of the second level', 2],
] as const;

export function draftLimits(
  { sinceMs, untilMs, jobs }: RanMonth,
  zone: string,
  groupIds: ReadonlyMap<string, number>,
): string {
  const days = (untilMs - sinceMs) / DAY_MS;
  const dayText = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
  const minutesOf = ({ seconds }: JobsUse): number => (seconds / 60 / Math.max(1, days)) * MONTH_DAYS;
  const limitsOf = (uses: readonly JobsUse[], subject: string) => {
    const most = (values: readonly number[]): number =>
      roomyAmount(
        quantile(
          values.toSorted((a, b) => a - b),
          0.9,
        ),
      );
    const minutes = most(uses.map(minutesOf));
    const peak = most(uses.map(({ peakJobs }) => peakJobs));
    const text = `  - { ${subject}, minutes: ${minutes}, per: month, zone: ${zone}, mode: shadow }\n  - { ${subject}, jobs: ${peak}, mode: shadow }\n`;
    const isLarger = (use: JobsUse): boolean => minutesOf(use) > minutes || use.peakJobs > peak;
    return { text, isLarger };
  };
  const ofGroups = jobs.filter(({ path }) => groupIds.has(namespaceOf(path)));
  const levels = LEVELS.flatMap(([pattern, what, level]) => {
    const uses = useByGroup(ofGroups, level);
    if (uses.size === 0) return [];
    const about = `Each ${what}: ${uses.size} ran jobs; nine of ten used no more.`;
    return { uses, about, ...limitsOf([...uses.values()], `groups: "${pattern}"`) };
  });
  const larger = levels
    .flatMap(({ uses, isLarger }) => [...uses].filter(([path, use]) => groupIds.has(path) && isLarger(use)))
    .sort(([, a], [, b]) => b.seconds - a.seconds)
    .slice(0, GROUPS_MAX)
    .map(([path, use]) => {
      const about = `${path}: ${use.jobs} jobs, ${Math.round(use.seconds / 60)} minutes in ${Math.round(days)} days, at most ${use.peakJobs} running together.`;
      return comment(about, '  ') + limitsOf([use], `on: { group: ${groupIds.get(path)} }`).text;
    });
  const defaults = levels.map(({ about, text }) => comment(about, '  ') + text).join('');
  return `${comment(`Drafted by tollgate init from ${jobs.length} jobs that ran from ${dayText(sinceMs)} to ${dayText(untilMs)}. The policies/limits.yaml of Tollgate explains every key.`)}${comment(
    `Each number is what was used, for ${MONTH_DAYS} days, with a quarter on top and rounded up. All are in shadow: they are counted and reject no job. Take mode away, or write enforce, group by group. Limits in money (money: 500, per: month) mean something once policy.yaml has prices.`,
  )}
${comment('Groups that used more than nine of ten others at their level, by themselves.')}limits:${larger.length === 0 ? ' []' : `\n${larger.join('')}`}

${comment('Every other group. Each has a counter of its own; a group counts what runs in it and below.')}group_defaults:${defaults === '' ? ' []' : `\n${defaults}`}
`;
}

export const namespaceOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export function draftDirectory({
  groups,
  projects,
  left,
}: {
  readonly groups: readonly GitLabGroup[];
  readonly projects: readonly { readonly id: number; readonly groupId: number; readonly path: string }[];
  readonly left: number;
}): string {
  const list = (name: string, entries: readonly { readonly id: number }[]): string => {
    const lines = entries
      .toSorted((a, b) => a.id - b.id)
      .map((entry) => {
        const fields = Object.entries(entry).filter(([, value]) => value !== undefined);
        return `  - { ${fields.map(([field, value]) => `${field}: ${quotedText(value)}`).join(', ')} }\n`;
      });
    return lines.length === 0 ? `${name}: []\n` : `${name}:\n${lines.join('')}`;
  };
  const lost = left > 0 ? ` ${left} groups or projects could not be placed and are left out.` : '';
  const about = `Drafted by tollgate init: all ${groups.length} groups, and the ${projects.length} projects of theirs that ran jobs. In a deployment the same comes from GitLab every few minutes.${lost}`;
  const placed = groups.map(({ id, parentId: parent, path, visibility }) => ({
    id,
    parent,
    path,
    visibility,
  }));
  const ran = projects.map(({ id, groupId: group, path }) => ({ id, group, path }));
  return `${comment(about)}\n${list('groups', placed)}\n${list('projects', ran)}`;
}

const COLUMNS = 120;

/** Quotes a value if necessary: JSON is YAML, except for characters that YAML escapes. */
export const quotedText = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const comment = (text: string, indent = ''): string =>
  `${wrapped(`${indent}# ${oneLine(text)}`, COLUMNS, `${indent}# `)}\n`;

const minutesText = (seconds: number): string => `${Math.max(1, Math.ceil(seconds / 60))}m`;

/** Adds a quarter and rounds up to two digits, because past use alone is no limit. */
function roomyAmount(used: number): number {
  const wanted = Math.max(1, used * 1.25);
  const step = 10 ** Math.max(0, Math.floor(Math.log10(wanted)) - 1);
  return Math.ceil(wanted / step) * step;
}
