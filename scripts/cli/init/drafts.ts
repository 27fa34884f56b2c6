import type { GitLabGroup } from '../../../functions/core/gitlab/gitlab.ts';
import { patiently } from '../../../functions/core/gitlab/rest-call.ts';
import type { GitLabDirectory } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { quantile } from '../../local/random.ts';
import type { MannedRunner } from '../fleet/read-fleet.ts';
import { PRICES_TO_FILL } from '../policy/warnings.ts';
import { type JobsUse, type RanMonth, useByGroup, useOf } from './read-month.ts';
import { comment, minutesText, quotedText, roomyAmount } from './written-yaml.ts';

/** More are no price list that people read. */
const CLASSES_MAX = 60;
const TAGS_MAX = 50;
const NAME_CHARACTERS_MAX = 60;
const ESTIMATE_SECONDS = 600;
/** Fewer runs say nothing about a usual one. */
const RUNS_MIN = 20;

/** The policy as text: classes from the fleet, prices to be filled in, and the rules that switch limits on. */
export function draftPolicy(
  runners: readonly MannedRunner[],
  month: RanMonth,
  { currency, zone }: { readonly currency: string; readonly zone: string },
): string {
  const all = classesOf(runners, month);
  const classes = all
    .slice(0, CLASSES_MAX)
    .sort((a, b) => Number(b.byId) - Number(a.byId) || b.tags.length - a.tags.length);
  // Those that ran most come first.
  const fallback = all.find(({ untagged }) => untagged) ?? all[0];
  const { jobs, usualSeconds } = useOf(month.jobs);
  const estimate = jobs >= RUNS_MIN ? usualSeconds : ESTIMATE_SECONDS;
  const left = all.length - classes.length;
  return `${comment('Drafted by tollgate init from the runners of GitLab. The policies/policy.yaml of Tollgate explains every key.')}
${comment('To be chosen: the currency of all amounts.')}currency: ${currency}
zone: ${zone}

prices:
${comment(`To be filled: GitLab knows no prices, so all of them are 0 and money limits stop nobody. tollgate policy validate warns until the version is another one than ${PRICES_TO_FILL}.`, '  ')}  version: ${PRICES_TO_FILL}
${comment(`One class per set of tags and kind of machine, those with more tags first, because the first that matches wins. GitLab tells no executor, CPU or memory: write cpu, memory and overwrites where limits are to count them.${left > 0 ? ` ${left} sets of tags that were used least are left out; they count as default_class.` : ''}`, '  ')}  classes:
${classes.map(classText).join('') || NO_RUNNERS}${comment(
  fallback === undefined
    ? 'GitLab has no runner yet.'
    : `${fallback.untagged ? 'Its runners take jobs without tags' : 'No runner takes jobs without tags; this class'} and ran ${fallback.use.jobs} jobs.`,
  '  ',
)}  default_class: ${quotedText(fallback?.name ?? 'any')}

${comment(jobs >= RUNS_MIN ? `Nine of ten of the ${jobs} jobs were over after so long.` : 'Too few jobs ran to tell how long one usually takes.')}estimate: { default: ${minutesText(estimate)}, timeout: 1h }

${comment('To be filled: whose jobs deploy Tollgate itself, so that no rule locks them out. tollgate policy validate warns until it is there.')}# platform:
#   groups: []

${comment('The modes of limits stand in limits.yaml, all of them shadow: nobody is rejected. Rules about images, users and the like: tollgate policy import config.toml.')}rules:
  - { id: budgets, kind: budget, mode: enforce }
  - { id: jobs-at-once, kind: concurrency, mode: enforce }
`;
}

const NO_RUNNERS = '    - { name: any, tags: [], rate_per_minute: 0 }\n';

type DraftedClass = ReturnType<typeof classesOf>[number];

function classText({ name, tags, runnerIds, machine, byId, use }: DraftedClass): string {
  const ids = runnerIds.length > 10 ? `${runnerIds.slice(0, 10).join(', ')} and more` : runnerIds.join(', ');
  const minutes = Math.round(use.seconds / 60);
  const about = `Runners ${ids}: ${machine === '' ? 'no manager told its machine' : machine}. ${use.jobs} jobs, ${minutes} minutes, at most ${use.peakJobs} at once.`;
  return [
    comment(about, '    '),
    `    - name: ${quotedText(name)}\n`,
    `      tags: [${byId ? '' : tags.map(quotedText).join(', ')}]\n`,
    byId || tags.length === 0 ? `      runner_ids: [${runnerIds.join(', ')}]\n` : '',
    '      rate_per_minute: 0   # to be filled\n',
    use.jobs >= RUNS_MIN
      ? `      estimate: ${minutesText(use.usualSeconds)}   # nine of ten were over\n`
      : '',
  ].join('');
}

/**
 * Sets of runners that a price can be given to: those with the same tags on the same kind of machine, such as
 * `linux/amd64`. If two sets have the same tags, only ids distinguish them. Those that ran most come first.
 */
function classesOf(runners: readonly MannedRunner[], month: RanMonth) {
  const jobs = Map.groupBy(month.jobs, ({ runnerId }) => runnerId);
  const described = runners.map(({ runner, managers }) => {
    const machines = managers.flatMap(({ platform, architecture = 'unknown' }) =>
      platform === undefined ? [] : `${platform}/${architecture}`,
    );
    const tags = runner.tags.toSorted().slice(0, TAGS_MAX);
    return { runner, tags, key: JSON.stringify(tags), machine: [...new Set(machines)].sort().join(', ') };
  });
  const names = new Set(['none']);
  return [...Map.groupBy(described, ({ key, machine }) => `${key} ${machine}`).values()]
    .flatMap((same) => {
      const [first] = same;
      if (first === undefined) return [];
      const { tags, machine, key } = first;
      const runnerIds = same.map(({ runner }) => runner.id);
      return {
        ...{ tags, machine, runnerIds },
        byId: described.some((other) => other.key === key && other.machine !== machine),
        untagged: same.some(({ runner }) => runner.runUntagged),
        use: useOf(runnerIds.flatMap((id) => jobs.get(id) ?? [])),
      };
    })
    .sort((a, b) => b.use.seconds - a.use.seconds || (a.runnerIds[0] ?? 0) - (b.runnerIds[0] ?? 0))
    .map((each) => ({ ...each, name: nameOf(each.tags, each.byId ? each.machine : '', names) }));
}

/** From the tags, in the letters that names may have; each once. */
function nameOf(tags: readonly string[], machine: string, taken: Set<string>): string {
  const words = [tags.length === 0 ? 'untagged' : tags.join('-'), machine].join('-');
  const plain = words
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

interface LimitsDraftOptions {
  readonly zone: string;
  /** GitLab's ids of groups, by full path. */
  readonly groupIds: ReadonlyMap<string, number>;
  /** Full paths of personal namespaces. */
  readonly personal: ReadonlySet<string>;
}

/** Largest groups listed individually, besides patterns. */
const GROUPS_MAX = 500;
const MONTH_DAYS = 30;

/** The limits as text: defaults by pattern, and groups that used far more by themselves. All in shadow. */
export function draftLimits(month: RanMonth, { zone, groupIds, personal }: LimitsDraftOptions): string {
  const { sinceMs, untilMs } = month;
  const days = (untilMs - sinceMs) / DAY_MS;
  const dayText = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
  const minutesOf = ({ seconds }: JobsUse): number => (seconds / 60 / Math.max(1, days)) * MONTH_DAYS;
  /** Two limits for the 90th percentile of these uses. */
  const limitsOf = (uses: readonly JobsUse[], subject: string) => {
    const most = (values: readonly number[]): number =>
      roomyAmount(
        quantile(
          [...values].sort((a, b) => a - b),
          0.9,
        ),
      );
    const minutes = most(uses.map(minutesOf));
    const jobs = most(uses.map(({ peakJobs }) => peakJobs));
    const text = `  - { ${subject}minutes: ${minutes}, per: month, zone: ${zone}, mode: shadow }\n  - { ${subject}jobs: ${jobs}, mode: shadow }\n`;
    const isLarger = (use: JobsUse): boolean => minutesOf(use) > minutes || use.peakJobs > jobs;
    return { text, isLarger };
  };
  const placed = month.jobs.filter(({ path }) => path !== '');
  const isPersonal = ({ path }: { readonly path: string }): boolean =>
    personal.has(path.slice(0, path.lastIndexOf('/')));
  const ofGroups = placed.filter((job) => !isPersonal(job));
  const own = useByGroup(placed.filter(isPersonal), 1);
  const levels = (
    [
      ['*', 'top-level group', 1],
      ['*/*', 'group of the second level', 2],
    ] as const
  ).flatMap(([pattern, what, level]) => {
    const uses = useByGroup(ofGroups, level);
    if (uses.size === 0) return [];
    const about = `Each ${what}: ${uses.size} of them ran jobs; nine of ten used no more.`;
    return { uses, about, ...limitsOf([...uses.values()], `groups: "${pattern}", `) };
  });
  const larger = levels
    .flatMap(({ uses, isLarger }) => [...uses].filter(([path, use]) => groupIds.has(path) && isLarger(use)))
    .sort(([, a], [, b]) => b.seconds - a.seconds)
    .slice(0, GROUPS_MAX)
    .map(([path, use]) => {
      const about = `${path}: ${use.jobs} jobs, ${Math.round(use.seconds / 60)} minutes in ${Math.round(days)} days, at most ${use.peakJobs} at once.`;
      return comment(about, '  ') + limitsOf([use], `on: { group: ${groupIds.get(path)} }, `).text;
    });
  const defaults = levels.map(({ about, text }) => comment(about, '  ') + text).join('');
  const personalText = (): string =>
    `${comment(`Personal namespaces: ${own.size} of them ran jobs; nine of ten used no more.`)}personal_default:\n${limitsOf([...own.values()], '').text}`;
  return `${comment(`Drafted by tollgate init from ${month.jobs.length} jobs that ran from ${dayText(sinceMs)} to ${dayText(untilMs)}. The policies/limits.yaml of Tollgate explains every key.`)}${comment(
    `Each number is what was used, for ${MONTH_DAYS} days, with a quarter on top and rounded up. All are in shadow: they are counted and reject nobody. Take mode away, or write enforce, group by group. Limits in money (money: 500, per: month) mean something once policy.yaml has prices.`,
  )}
${comment('Groups that used more than nine of ten others at their level, by themselves.')}limits:${larger.length === 0 ? ' []' : `\n${larger.join('')}`}

${comment('Every other group. Each has a counter of its own; a group counts what runs in it and below.')}group_defaults:${defaults === '' ? ' []' : `\n${defaults}`}

${own.size === 0 ? comment('No job ran in a personal namespace.') : personalText()}`;
}

/** The groups of a GitLab, and the projects that ran something. */
interface DraftedPlaces {
  readonly groups: readonly (GitLabGroup & { readonly personal?: true })[];
  readonly projects: readonly { readonly id: number; readonly groupId: number; readonly path: string }[];
  /** Groups and projects that are left out: not readable, or without a group that is known. */
  readonly left: number;
}

const PAGES_MAX = 2_000;
/** Calls for projects in namespaces that are no group: mostly personal ones. */
const LOOKUPS_MAX = 500;

/**
 * All groups, and of the projects only those that jobs ran in: a job names its namespace itself.
 *
 * @throws {GitLabError}
 */
export async function readPlaces(
  gitlab: Pick<GitLabDirectory, 'groups' | 'project'>,
  { jobs }: RanMonth,
  sleep: (delayMs: number) => Promise<void>,
): Promise<DraftedPlaces> {
  const listed = new Map<number, GitLabGroup>();
  let left = 0;
  let page: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const from = page;
    const found = await patiently(() => gitlab.groups(from === undefined ? {} : { page: from }), sleep);
    for (const group of found.groups) listed.set(group.id, group);
    left += found.unreadable ?? 0;
    page = found.next;
    if (page === undefined) break;
  }
  const groups: (GitLabGroup & { personal?: true })[] = [...listed.values()].filter((group) =>
    isWhole(group, listed),
  );
  left += listed.size - groups.length;
  const idOf = new Map(groups.map(({ path, id }) => [path.toLowerCase(), id]));
  const projects: { id: number; groupId: number; path: string }[] = [];
  const paths = new Map(jobs.map(({ projectId, path }) => [projectId, path]));
  let lookups = 0;
  for (const [id, path] of paths) {
    if (path === '') continue;
    const namespace = path.slice(0, path.lastIndexOf('/')).toLowerCase();
    if (!idOf.has(namespace) && lookups < LOOKUPS_MAX) {
      lookups += 1;
      const space = (await patiently(() => gitlab.project(id), sleep))?.namespace;
      if (space?.personal === true && !idOf.has(space.path.toLowerCase()) && isReadable(space.path)) {
        groups.push({ id: space.id, path: space.path, personal: true });
        idOf.set(space.path.toLowerCase(), space.id);
      }
    }
    const groupId = idOf.get(namespace);
    if (groupId === undefined || !isReadable(path)) left += 1;
    else projects.push({ id, groupId, path });
  }
  return { groups, projects, left };
}

/** With all groups above it: one without them would look like a top-level group. */
function isWhole(group: GitLabGroup, listed: ReadonlyMap<number, GitLabGroup>): boolean {
  const above = new Set<number>();
  for (let each: GitLabGroup | undefined = group; each !== undefined; ) {
    if (above.has(each.id) || !isReadable(each.path)) return false;
    above.add(each.id);
    if (each.parentId === undefined) return true;
    each = listed.get(each.parentId);
  }
  return false;
}

const isReadable = (path: string): boolean => parseDirectory({ groups: [{ id: 1, path }], projects: [] }).ok;

export function draftDirectory({ groups, projects, left }: DraftedPlaces): string {
  /** Flow mappings, one per line; `undefined` leaves a field out. */
  const list = (name: string, entries: readonly { readonly id: number }[]): string => {
    const lines = entries
      .toSorted((a, b) => a.id - b.id)
      .map((entry) => {
        const fields = Object.entries(entry).filter(([, value]) => value !== undefined);
        return `  - { ${fields.map(([field, value]) => `${field}: ${quotedText(value)}`).join(', ')} }\n`;
      });
    return lines.length === 0 ? `${name}: []\n` : `${name}:\n${lines.join('')}`;
  };
  const placed = groups.map(({ id, parentId: parent, path, visibility, personal }) => ({
    ...{ id, parent, path, visibility, personal },
  }));
  const lost = left > 0 ? ` ${left} groups or projects could not be placed and are left out.` : '';
  return `${comment(`Drafted by tollgate init: all ${groups.length} groups and personal namespaces, and the ${projects.length} projects that ran jobs. In a deployment the same comes from GitLab every few minutes.${lost}`)}
${list('groups', placed)}
${list(
  'projects',
  projects.map(({ id, groupId: group, path }) => ({ id, group, path })),
)}`;
}
