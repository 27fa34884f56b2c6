import type { GitLabGroup } from '../../../functions/core/gitlab/gitlab.ts';
import { patiently } from '../../../functions/core/gitlab/rest-call.ts';
import type { GitLabDirectory } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { quantile } from '../../local/random.ts';
import type { MannedRunner } from '../fleet/read-fleet.ts';
import { PRICES_TO_FILL } from '../policy/warnings.ts';
import { type JobsUse, type RanJob, type RanMonth, useByGroup, useOf } from './read-month.ts';
import { comment, minutesText, quotedText, roomyAmount } from './written-yaml.ts';

/** A set of runners that a price can be given to: those with the same tags on the same kind of machine. */
interface DraftedClass {
  readonly name: string;
  readonly tags: readonly string[];
  readonly runnerIds: readonly number[];
  /** `linux/amd64`; empty if unknown. */
  readonly machine: string;
  /** Another class has the same tags: only ids distinguish them. */
  readonly byId: boolean;
  readonly untagged: boolean;
  readonly use: JobsUse;
}

/** More are no price list that people read. */
const CLASSES_MAX = 60;
const TAGS_MAX = 50;
const NAME_CHARACTERS_MAX = 60;
const ESTIMATE_SECONDS = 600;
/** Fewer runs say nothing about a usual one. */
const RUNS_MIN = 20;

interface PolicyDraftOptions {
  readonly currency: string;
  readonly zone: string;
}

/** The policy as text: classes from the fleet, prices to be filled in, and the rules that switch limits on. */
export function draftPolicy(
  runners: readonly MannedRunner[],
  month: RanMonth,
  { currency, zone }: PolicyDraftOptions,
): string {
  const all = classesOf(runners, month);
  const classes = all
    .slice(0, CLASSES_MAX)
    .sort((a, b) => Number(b.byId) - Number(a.byId) || b.tags.length - a.tags.length);
  const whole = useOf(month.jobs);
  const fallback =
    classes.filter(({ untagged }) => untagged).sort((a, b) => b.use.jobs - a.use.jobs)[0] ??
    classes.toSorted((a, b) => b.use.jobs - a.use.jobs)[0];
  const left = all.length - classes.length;
  return [
    comment(
      'Drafted by tollgate init from the runners of GitLab. The policies/policy.yaml of Tollgate explains every key.',
    ),
    '\n',
    comment('To be chosen: the currency of all amounts.'),
    `currency: ${currency}\n`,
    `zone: ${zone}\n\n`,
    'prices:\n',
    comment(
      `To be filled: GitLab knows no prices, so all of them are 0 and money limits stop nobody. tollgate policy validate warns of each price until the version is another one than ${PRICES_TO_FILL}.`,
      '  ',
    ),
    `  version: ${PRICES_TO_FILL}\n`,
    comment(
      'One class per set of tags and kind of machine, those with more tags first, because the first that matches wins. GitLab tells no executor, CPU or memory: write cpu, memory and overwrites where limits are to count them (tollgate policy import reads them from a config.toml).',
      '  ',
    ),
    ...(left > 0
      ? [
          comment(
            `${left} sets of tags that were used least are left out; they count as default_class.`,
            '  ',
          ),
        ]
      : []),
    '  classes:\n',
    ...(classes.length === 0 ? [NO_RUNNERS] : classes.map(classText)),
    comment(
      fallback === undefined
        ? 'GitLab has no runner yet.'
        : `${fallback.untagged ? 'Its runners take jobs without tags' : 'No runner takes jobs without tags; this class'} and ran ${fallback.use.jobs} jobs.`,
      '  ',
    ),
    `  default_class: ${quotedText(fallback?.name ?? 'any')}\n\n`,
    comment(
      whole.jobs >= RUNS_MIN
        ? `Nine of ten of the ${whole.jobs} jobs were over after so long.`
        : 'Too few jobs ran to tell how long one usually takes.',
    ),
    `estimate: { default: ${minutesText(whole.jobs >= RUNS_MIN ? whole.usualSeconds : ESTIMATE_SECONDS)}, timeout: 1h }\n\n`,
    comment(
      'To be filled: whose jobs deploy Tollgate itself, so that no rule locks them out. tollgate policy validate warns until it is there.',
    ),
    '# platform:\n#   groups: []\n\n',
    comment(
      'The modes of limits stand in limits.yaml, all of them shadow: nobody is rejected. Rules about images, users and the like: tollgate policy import config.toml.',
    ),
    RULES,
  ].join('');
}

const NO_RUNNERS = '    - { name: any, tags: [], rate_per_minute: 0 }\n';

const RULES = `rules:
  - { id: budgets, kind: budget, mode: enforce }
  - { id: jobs-at-once, kind: concurrency, mode: enforce }
`;

function classText({ name, tags, runnerIds, machine, byId, use }: DraftedClass): string {
  const ids = runnerIds.length > 10 ? `${runnerIds.slice(0, 10).join(', ')} and more` : runnerIds.join(', ');
  const estimate = use.jobs >= RUNS_MIN ? `      estimate: ${minutesText(use.usualSeconds)}\n` : '';
  return [
    comment(
      `Runners ${ids}: ${machine === '' ? 'no manager told its machine' : machine}. ${use.jobs} jobs, ${Math.round(use.seconds / 60)} minutes, at most ${use.peakJobs} at once${estimate === '' ? '' : '; nine of ten were over after the estimate'}.`,
      '    ',
    ),
    `    - name: ${quotedText(name)}\n`,
    `      tags: [${byId ? '' : tags.map(quotedText).join(', ')}]\n`,
    ...(byId || tags.length === 0 ? [`      runner_ids: [${runnerIds.join(', ')}]\n`] : []),
    '      rate_per_minute: 0   # to be filled\n',
    estimate,
  ].join('');
}

/** Those that ran most first. */
function classesOf(runners: readonly MannedRunner[], month: RanMonth): readonly DraftedClass[] {
  const jobs = Map.groupBy(month.jobs, ({ runnerId }) => runnerId);
  const sets = Map.groupBy(runners, (each) => JSON.stringify([tagsOf(each), machineOf(each)]));
  const machines = Map.groupBy(
    [...sets.values()].flatMap(([first]) => first ?? []),
    (each) => JSON.stringify(tagsOf(each)),
  );
  const names = new Set<string>(['none']);
  return [...sets.values()]
    .flatMap((same) => {
      const [first] = same;
      if (first === undefined) return [];
      const runnerIds = same.map(({ runner }) => runner.id);
      const tags = tagsOf(first);
      const machine = machineOf(first);
      const byId = (machines.get(JSON.stringify(tags))?.length ?? 0) > 1;
      return {
        tags,
        machine,
        runnerIds,
        byId,
        untagged: same.some(({ runner }) => runner.runUntagged),
        use: useOf(runnerIds.flatMap((id) => jobs.get(id) ?? [])),
      };
    })
    .sort((a, b) => b.use.seconds - a.use.seconds || (a.runnerIds[0] ?? 0) - (b.runnerIds[0] ?? 0))
    .map((each) => ({ ...each, name: nameOf(each.tags, each.byId ? each.machine : '', names) }));
}

const tagsOf = ({ runner }: MannedRunner): readonly string[] => runner.tags.toSorted().slice(0, TAGS_MAX);

/** The machines of all its managers, in one order. */
const machineOf = ({ managers }: MannedRunner): string =>
  [
    ...new Set(
      managers.flatMap(({ platform, architecture }) =>
        platform === undefined ? [] : `${platform}/${architecture ?? 'unknown'}`,
      ),
    ),
  ]
    .sort()
    .join(', ');

/** From the tags, in the letters that names may have; each once. */
function nameOf(tags: readonly string[], machine: string, taken: Set<string>): string {
  const words = `${tags.length === 0 ? 'untagged' : tags.join('-')}${machine === '' ? '' : `-${machine}`}`;
  const plain = words
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, NAME_CHARACTERS_MAX);
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
  const ask = <Answer>(call: () => Promise<Answer>): Promise<Answer> => patiently(call, sleep);
  const listed = new Map<number, GitLabGroup>();
  let left = 0;
  let page: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const from = page;
    const found = await ask(() => gitlab.groups(from === undefined ? {} : { page: from }));
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
  const projects = new Map<
    number,
    { readonly id: number; readonly groupId: number; readonly path: string }
  >();
  const paths = new Map(
    jobs.filter(({ path }) => path !== '').map(({ projectId, path }) => [projectId, path]),
  );
  let lookups = 0;
  for (const [id, path] of paths) {
    const namespace = path.slice(0, path.lastIndexOf('/'));
    if (!idOf.has(namespace.toLowerCase()) && lookups < LOOKUPS_MAX) {
      lookups += 1;
      const project = await ask(() => gitlab.project(id));
      const space = project?.namespace;
      if (space?.personal === true && !idOf.has(space.path.toLowerCase()) && isReadable(space.path)) {
        groups.push({ id: space.id, path: space.path, personal: true });
        idOf.set(space.path.toLowerCase(), space.id);
      }
    }
    const groupId = idOf.get(namespace.toLowerCase());
    if (groupId === undefined || !isReadable(path)) left += 1;
    else projects.set(id, { id, groupId, path });
  }
  return { groups, projects: [...projects.values()], left };
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
  const groupText = ({
    id,
    parentId,
    path,
    visibility,
    personal,
  }: DraftedPlaces['groups'][number]): string => {
    const parent = parentId === undefined ? '' : `, parent: ${parentId}`;
    const seen = visibility === undefined ? '' : `, visibility: ${visibility}`;
    return `  - { id: ${id}${parent}, path: ${quotedText(path)}${seen}${personal === true ? ', personal: true' : ''} }\n`;
  };
  const list = (name: string, lines: readonly string[]): string =>
    lines.length === 0 ? `${name}: []\n` : `${name}:\n${lines.join('')}`;
  return [
    comment(
      `Drafted by tollgate init: all ${groups.length} groups and personal namespaces, and the ${projects.length} projects that ran jobs. In a deployment the same comes from GitLab every few minutes.`,
    ),
    ...(left > 0 ? [comment(`${left} groups or projects could not be placed and are left out.`)] : []),
    '\n',
    list('groups', groups.toSorted((a, b) => a.id - b.id).map(groupText)),
    '\n',
    list(
      'projects',
      projects
        .toSorted((a, b) => a.id - b.id)
        .map(({ id, groupId, path }) => `  - { id: ${id}, group: ${groupId}, path: ${quotedText(path)} }\n`),
    ),
  ].join('');
}
