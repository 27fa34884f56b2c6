import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  createGitLab,
  createGitLabDirectory,
  type GitLab,
  type GitLabDirectory,
  type GitLabGroup,
} from '../../../functions/core/gitlab/rest-gitlab.ts';
import { finishedJobs } from '../../../functions/core/gitlab/runners.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { DAY_MS, isZone } from '../../../policies/limits/calendar.ts';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { limitsIn, policyIn } from '../../policy/read-documents.ts';
import { parseYaml } from '../../policy/yaml-document.ts';
import { DocumentError, ownName, UsageError } from '../../terminal/command.ts';
import { command, orElse, print, text, toggle, whole } from '../../terminal/define.ts';
import { shortPath, writeUserFile } from '../../terminal/user-file.ts';
import { readFleet } from '../fleet/ls-command.ts';
import { pagesOf } from '../reconcile/compare-with-gitlab.ts';
import { neededGitLab, readGitLabPlace } from '../reconcile/gitlab-flags.ts';
import { progressOf } from '../reconcile/progress.ts';
import { draftDirectory, draftLimits, draftPolicy, namespaceOf, type RanJob } from './drafts.ts';

const DAYS_MAX = 90;
const DOCUMENTS = ['policy', 'limits', 'directory'] as const;

const checked = (isRight: (given: string) => boolean, expected: string) => (given: string, flag: string) => {
  if (isRight(given)) return given;
  throw new UsageError(`--${flag} "${given}": expected ${expected}`);
};
const readCurrency = checked((code) => /^[A-Z]{3}$/.test(code), 'a code such as EUR');
const readZone = checked(isZone, 'an IANA zone such as Europe/Berlin');

const init = command({
  name: 'init',
  about: `Runner classes are made from tags, and you fill in the prices; limits are defaults from past use, in shadow. Comments say where
each number comes from. The files pass tollgate policy validate, which warns about what you have to fill in, and npm start takes
them unchanged. GitLab is only read. No existing file is overwritten.`,
  flags: {
    ...neededGitLab(),
    out: orElse(text('<folder>', 'folder for the three files'), 'mine'),
    days: orElse(text('<days>', `jobs of this number of days, at most ${DAYS_MAX}`, whole(1, DAYS_MAX)), 30),
    currency: orElse(text('<code>', 'of prices and money limits', readCurrency), 'EUR'),
    zone: orElse(text('<zone>', 'time zone of months', readZone), 'UTC'),
    'dry-run': toggle('prints the files and writes none'),
    force: toggle('overwrites existing files'),
  },
  examples: ['tollgate init --gitlab https://gitlab.example.com --token-file token --out mine --days 30'],
  exits: { 0: 'drafted', 1: 'GitLab does not answer', 3: 'wrong usage, or a file exists' },
  run: async ({ flags }, io) => {
    const place = readGitLabPlace(flags, io);
    const { currency, zone, days, force, 'dry-run': isDry } = flags;
    const files = DOCUMENTS.map((name) => join(resolve(io.cwd, flags.out), `${name}.yaml`));
    const shown = files.map((file) => shortPath(file, io.cwd));
    const there = isDry || force ? [] : shown.filter((_, at) => existsSync(files[at] ?? ''));
    if (there.length > 0)
      throw new UsageError(
        `${there.join(', ')}: there already; --force writes over it, --out names another folder, --dry-run prints`,
      );

    const progress = progressOf('calls and jobs', io);
    const { sleep } = place.clock;
    const { runners, unreadable } = await readFleet(place, progress);
    const runnerIds = runners.map(({ runner }) => runner.id);
    const span = { sinceMs: io.nowMs() - days * DAY_MS, untilMs: io.nowMs() };
    const month = await readMonth(createGitLab(place), runnerIds, span, sleep, progress.step);
    const places = await readPlaces(createGitLabDirectory(place), month.jobs, sleep);
    progress.done();
    const documents = {
      policy: draftPolicy(runners, month, { currency, zone }),
      limits: draftLimits(month, zone, places.groupIds),
      directory: draftDirectory(places),
    };
    checkDrafted(documents);
    const result = {
      ...{ files: shown, written: !isDry, runners: runners.length, groups: places.groups.length },
      ...(isDry && { documents }),
      jobs: month.jobs.length,
      since: new Date(month.sinceMs).toISOString(),
      until: new Date(month.untilMs).toISOString(),
      left: unreadable + month.unreadable + places.left,
      cutRunners: month.cutRunners,
    };
    const texts = DOCUMENTS.map((name, at) => [files[at] ?? '', documents[name]] as const);
    if (!isDry) for (const [file, text] of texts) writeUserFile(file, text, file, force ? 'w' : 'wx');
    return print(io, flags, result, () =>
      isDry
        ? texts.map(([file, text]) => `# ${file}\n${text}\n`).join('')
        : writtenText(result, place.baseUrl, ownName(io)),
    );
  },
});

/** @throws {DocumentError} for an invalid draft, which is our defect, before anything is written. */
function checkDrafted(documents: Readonly<Record<(typeof DOCUMENTS)[number], string>>): void {
  const { model } = policyIn(parseYaml(documents.policy, 'policy.yaml'));
  const places = parseYaml(documents.directory, 'directory.yaml');
  const parsed = parseDirectory(places.value);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map(places.locate));
  limitsIn(parseYaml(documents.limits, 'limits.yaml'), model, parsed.value);
}

type Drafted = Readonly<Record<'runners' | 'groups' | 'jobs' | 'left', number>> & {
  readonly files: readonly string[];
  readonly since: string;
  readonly cutRunners: readonly number[];
};

function writtenText(drafted: Drafted, url: string, own: string): string {
  const { files, runners, groups, jobs, since, left, cutRunners } = drafted;
  const [policy, limits, directory] = files.map(shellWord);
  const flags = `--policy ${policy} --limits ${limits} --directory ${directory}`;
  const lost =
    left > 0 ? `${left} entries of GitLab's answers could not be read or placed and are left out.\n` : '';
  const cut =
    cutRunners.length > 0
      ? `Runners ${cutRunners.join(', ')} ran more than is read: their older jobs are missing.\n`
      : '';
  return `${files.join(', ')}: drafted. Runners: ${runners}, groups: ${groups}, jobs since ${since.slice(0, 10)}: ${jobs}.
${lost}${cut}Next: fill in the prices, look, and try them on your GitLab:
  ${own} policy validate ${flags}
  npm start -- --router <the router's address> --gitlab ${url} --token-file <file> --proto <file> \\
    ${flags}
`;
}

/** 20 000 jobs of one runner are enough to draft limits from. */
const PAGES_PER_RUNNER_MAX = 200;
const JOBS_MAX = 1_000_000;

/** `cutRunners` ran more jobs than are read: their older ones are missing. @throws {GitLabError} */
async function readMonth(
  gitlab: Pick<GitLab, 'listJobs'>,
  runnerIds: readonly number[],
  span: { readonly sinceMs: number; readonly untilMs: number },
  sleep: (delayMs: number) => Promise<void>,
  onJob: () => void,
) {
  // By job: with numbered pages, new jobs push others to the next page.
  const jobs = new Map<number, RanJob>();
  const cut = new Set(runnerIds);
  let unreadable = 0;
  const bounds = { ...span, pagesMax: PAGES_PER_RUNNER_MAX, sleep };
  for await (const page of finishedJobs(gitlab, runnerIds, bounds)) {
    for (const { jobId, projectId, projectPath: path = '', startedAtMs, finishedAtMs } of page.jobs) {
      const [startMs, endMs] = [startedAtMs ?? 0, finishedAtMs ?? 0];
      if (!jobs.has(jobId)) jobs.set(jobId, { runnerId: page.runnerId, projectId, path, startMs, endMs });
      onJob();
    }
    unreadable += page.unreadable;
    if (page.isLast && !page.cut) cut.delete(page.runnerId);
    if (jobs.size >= JOBS_MAX) break;
  }
  return { ...span, jobs: [...jobs.values()], unreadable, cutRunners: [...cut].sort((a, b) => a - b) };
}

const PAGES_MAX = 2_000;

/** All groups, and the projects that jobs ran in. `left`: not readable, or in personal namespaces. @throws {GitLabError} */
async function readPlaces(
  gitlab: Pick<GitLabDirectory, 'groups'>,
  jobs: readonly RanJob[],
  sleep: (delayMs: number) => Promise<void>,
) {
  const listed = new Map<number, GitLabGroup>();
  let left = 0;
  let pages = 0;
  for await (const found of pagesOf((from) => gitlab.groups(from), { sleep, onCall: () => {} })) {
    for (const group of found.groups) listed.set(group.id, group);
    left += found.unreadable ?? 0;
    pages += 1;
    if (pages >= PAGES_MAX) break;
  }
  const groups = [...listed.values()].filter((group) => isWhole(group, listed));
  left += listed.size - groups.length;
  const groupIds = new Map(groups.map(({ path, id }) => [path, id]));
  const projects = [...new Map(jobs.map(({ projectId, path }) => [projectId, path]))].flatMap(
    ([id, path]) => {
      const groupId = groupIds.get(namespaceOf(path));
      return groupId === undefined || !isReadable(path) ? [] : { id, groupId, path };
    },
  );
  left += new Set(jobs.map(({ projectId }) => projectId)).size - projects.length;
  return { groups, groupIds, projects, left };
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

export const commands = [init];
