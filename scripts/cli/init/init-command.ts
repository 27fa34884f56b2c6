import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  createGitLab,
  createGitLabDirectory,
  type GitLab,
} from '../../../functions/core/gitlab/rest-gitlab.ts';
import { finishedJobs } from '../../../functions/core/gitlab/runners.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { DAY_MS, isZone } from '../../../policies/limits/calendar.ts';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { quantile } from '../../local/random.ts';
import { DocumentError, limitsIn, policyIn } from '../../policy/read-documents.ts';
import { parseYaml } from '../../policy/yaml-document.ts';
import { UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { orElse, text, toggle, whole } from '../../terminal/flags.ts';
import { writeUserFile } from '../../terminal/user-file.ts';
import { readFleet } from '../fleet/ls-command.ts';
import { shortPath } from '../short-path.ts';
import { callsTo, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { draftDirectory, draftLimits, draftPolicy, readPlaces } from './drafts.ts';

const DAYS_MAX = 90;
const DOCUMENTS = ['policy', 'limits', 'directory'] as const;

/** @throws {UsageError} */
function readCurrency(code: string): string {
  if (/^[A-Z]{3}$/.test(code)) return code;
  throw new UsageError(`--currency "${code}": expected a code such as EUR`);
}

/** @throws {UsageError} */
function readZone(zone: string): string {
  if (isZone(zone)) return zone;
  throw new UsageError(`--zone "${zone}": expected an IANA zone such as Europe/Berlin`);
}

const init = command({
  name: 'init',
  about: `Reads the runners, the groups and the jobs of the last weeks, and drafts policy.yaml (runner classes from tags; you fill in
the prices), limits.yaml (defaults from past use, in shadow) and directory.yaml. Comments in them say where each number comes from.
They pass tollgate policy validate, which warns about what you have to fill in, and npm start takes them unchanged. GitLab is only
read. No existing file is overwritten.`,
  flags: {
    ...neededGitLab(),
    out: orElse(text('<folder>', 'where the three files go'), 'mine'),
    days: orElse(text('<days>', `jobs of this number of days, at most ${DAYS_MAX}`, whole(1, DAYS_MAX)), 30),
    currency: orElse(text('<code>', 'of prices and money limits', readCurrency), 'EUR'),
    zone: orElse(text('<zone>', 'where months begin and end', readZone), 'UTC'),
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
    const calls = callsTo(place);
    const { sleep } = place.clock;
    const { runners, unreadable } = await readFleet(place, progress);
    const runnerIds = runners.map(({ runner }) => runner.id);
    const span = { sinceMs: io.nowMs() - days * DAY_MS, untilMs: io.nowMs() };
    const month = await readMonth(createGitLab(calls), runnerIds, span, sleep, progress.step);
    const places = await readPlaces(createGitLabDirectory(calls), month.jobs, sleep);
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
      /** Older jobs of these runners are missing. */
      cutRunners: month.cutRunners,
    };
    const texts = DOCUMENTS.map((name, at) => [files[at] ?? '', documents[name]] as const);
    if (!isDry) for (const [file, text] of texts) writeUserFile(file, text, file, force ? 'w' : 'wx');
    return print(io, flags, result, () =>
      isDry
        ? texts.map(([file, text]) => `# ${file}\n${text}\n`).join('')
        : writtenText(result, place.baseUrl),
    );
  },
});

export const commands = [init];

/** @throws {DocumentError} for an invalid draft, which is our defect, before anything is written. */
function checkDrafted(documents: Readonly<Record<(typeof DOCUMENTS)[number], string>>): void {
  const { model } = policyIn(parseYaml(documents.policy, 'policy.yaml'));
  const places = parseYaml(documents.directory, 'directory.yaml');
  const parsed = parseDirectory(places.value);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map(places.locate));
  limitsIn(parseYaml(documents.limits, 'limits.yaml'), model, parsed.value);
}

function writtenText(
  result: {
    readonly [count in 'runners' | 'groups' | 'jobs' | 'left']: number;
  } & {
    readonly files: readonly string[];
    readonly since: string;
    readonly cutRunners: readonly number[];
  },
  url: string,
): string {
  const { files, runners, groups, jobs, since, left, cutRunners } = result;
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
  npx tollgate policy validate ${flags}
  npm start -- --router <the router's address> --gitlab ${url} --token-file <file> --proto <file> \\
    ${flags}
`;
}

export interface RanJob {
  readonly runnerId: number;
  readonly projectId: number;
  readonly path: string;
  readonly startMs: number;
  readonly endMs: number;
}

export type RanMonth = Awaited<ReturnType<typeof readMonth>>;

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

export type JobsUse = ReturnType<typeof useOf>;

/** Use in the span: the most jobs at one time, and the 90th percentile of the duration. */
export function useOf(jobs: readonly RanJob[]) {
  const lengths = jobs.map(({ startMs, endMs }) => Math.max(0, endMs - startMs) / 1000).sort((a, b) => a - b);
  return {
    jobs: jobs.length,
    seconds: Math.round(lengths.reduce((sum, each) => sum + each, 0)),
    peakJobs: peakOf(jobs),
    usualSeconds: jobs.length === 0 ? 0 : Math.ceil(quantile(lengths, 0.9)),
  };
}

/** The use of each group at one level of the tree: 1 is the top-level groups. A group's use has that of all below it. */
export function useByGroup(jobs: readonly RanJob[], level: number): ReadonlyMap<string, JobsUse> {
  const deep = jobs.filter(({ path }) => path.split('/').length > level);
  const byPath = Map.groupBy(deep, ({ path }) => path.split('/').slice(0, level).join('/'));
  return new Map([...byPath].map(([path, own]) => [path, useOf(own)]));
}

/** A job that ends when another starts does not overlap it. */
function peakOf(jobs: readonly RanJob[]): number {
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
