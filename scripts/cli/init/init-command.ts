import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createGitLab, createGitLabDirectory } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { DAY_MS, isZone } from '../../../policies/limits/calendar.ts';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { DocumentError, limitsIn, policyIn } from '../../policy/read-documents.ts';
import { parseYaml } from '../../policy/yaml-document.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { orElse, text, toggle, whole } from '../../terminal/flags.ts';
import { writeUserFile } from '../../terminal/user-file.ts';
import { readFleet } from '../fleet/read-fleet.ts';
import { shortPath } from '../short-path.ts';
import { callsTo, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { draftDirectory, draftLimits, draftPolicy, readPlaces } from './drafts.ts';
import { readMonth } from './read-month.ts';

/** Output of `--json`. */
interface InitJson {
  /** Paths; with --dry-run the texts are in `documents`, and nothing was written. */
  readonly files: readonly string[];
  readonly written: boolean;
  readonly documents?: Readonly<Record<string, string>>;
  readonly runners: number;
  readonly groups: number;
  readonly jobs: number;
  readonly since: string;
  readonly until: string;
  /** Unreadable or unplaced items from GitLab. */
  readonly left: number;
  /** Older jobs of these runners are missing. */
  readonly cutRunners: readonly number[];
}

const DAYS_MAX = 90;

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
  about: `Reads the runners, the groups and the jobs of the last weeks, and drafts policy.yaml (runner classes from tags and machines;
you fill in the prices), limits.yaml (defaults from past use, in shadow) and directory.yaml. Comments in them say where each number
comes from. They pass tollgate policy validate, which warns about what you have to fill in, and npm start takes them unchanged. GitLab
is only read. No existing file is overwritten.`,
  flags: {
    ...neededGitLab(),
    out: orElse(text('<folder>', 'where the three files go'), 'mine'),
    days: orElse(text('<days>', `jobs of this number of days, at most ${DAYS_MAX}`, whole(1, DAYS_MAX)), 30),
    resume: text('<file>', 'keeps jobs there as they come; the same command continues after the last page'),
    currency: orElse(text('<code>', 'of prices and money limits', readCurrency), 'EUR'),
    zone: orElse(text('<zone>', 'where months begin and end', readZone), 'UTC'),
    'dry-run': toggle('prints the files and writes none'),
    force: toggle('overwrites existing files'),
  },
  examples: ['tollgate init --gitlab https://gitlab.example.com --token-file token --out mine --days 30'],
  exits: { 0: 'drafted', 1: 'GitLab does not answer', 3: 'wrong usage, or a file exists' },
  run: async ({ flags: values }, io) => {
    const place = readGitLabPlace(values, io);
    const { currency, zone, days } = values;
    const folder = resolve(io.cwd, values.out);
    const writes = !values['dry-run'];
    // Before an hour of reading, not after it.
    if (writes && !values.force) refuseThere(folder, io);

    const progress = progressOf('calls and jobs', io);
    const calls = callsTo(place);
    const { runners, unreadable } = await readFleet(place, progress);
    const month = await readMonth(
      createGitLab(calls),
      runners.map(({ runner }) => runner.id),
      {
        sinceMs: io.nowMs() - days * DAY_MS,
        untilMs: io.nowMs(),
        instance: new URL(place.baseUrl).host,
        sleep: place.clock.sleep,
        onJob: progress.step,
        ...(values.resume !== undefined && { resumeFile: resolve(io.cwd, values.resume) }),
      },
    );
    const places = await readPlaces(createGitLabDirectory(calls), month, place.clock.sleep);
    progress.done();
    const personal = new Set(places.groups.filter((each) => each.personal === true).map(({ path }) => path));
    const documents = {
      policy: draftPolicy(runners, month, { currency, zone }),
      limits: draftLimits(month, {
        zone,
        personal,
        groupIds: new Map(places.groups.map(({ path, id }) => [path, id])),
      }),
      directory: draftDirectory(places),
    };
    checkDrafted(documents);
    const result: InitJson = {
      files: DOCUMENTS.map((name) => shortPath(join(folder, `${name}.yaml`), io.cwd)),
      written: writes,
      ...(!writes && { documents }),
      runners: runners.length,
      groups: places.groups.length,
      jobs: month.jobs.length,
      since: new Date(month.sinceMs).toISOString(),
      until: new Date(month.untilMs).toISOString(),
      left: unreadable + month.unreadable + places.left,
      cutRunners: month.cutRunners,
    };
    if (writes) writeDocuments(folder, documents, values.force);
    if (values.json) io.out(`${JSON.stringify(result)}\n`);
    else if (writes) io.out(writtenText(result, place.baseUrl));
    else for (const name of DOCUMENTS) io.out(`# ${join(folder, `${name}.yaml`)}\n${documents[name]}\n`);
    return EXIT.ok;
  },
});

export const commands = [init];

const DOCUMENTS = ['policy', 'limits', 'directory'] as const;

type DraftedDocuments = Readonly<Record<(typeof DOCUMENTS)[number], string>>;

function refuseThere(folder: string, io: TerminalIo): void {
  const there = DOCUMENTS.map((name) => join(folder, `${name}.yaml`)).filter((file) => existsSync(file));
  if (there.length > 0)
    throw new UsageError(
      `${there.map((file) => shortPath(file, io.cwd)).join(', ')}: there already; --force writes over it, --out names another folder, --dry-run prints`,
    );
}

/** @throws {DocumentError} for an invalid draft, which is our defect, before anything is written. */
function checkDrafted({ policy, limits, directory }: DraftedDocuments): void {
  const { model } = policyIn(parseYaml(policy, 'policy.yaml'));
  const places = parseYaml(directory, 'directory.yaml');
  const parsed = parseDirectory(places.value);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map(places.locate));
  limitsIn(parseYaml(limits, 'limits.yaml'), model, parsed.value);
}

function writeDocuments(folder: string, documents: DraftedDocuments, force: boolean): void {
  for (const name of DOCUMENTS) {
    const file = join(folder, `${name}.yaml`);
    writeUserFile(file, documents[name], file, force ? 'w' : 'wx');
  }
}

function writtenText(
  { files, runners, groups, jobs, since, left, cutRunners }: InitJson,
  url: string,
): string {
  const [policy = '', limits = '', directory = ''] = files.map(shellWord);
  const flags = `--policy ${policy} --limits ${limits} --directory ${directory}`;
  return [
    `${files.join(', ')}: drafted. Runners: ${runners}, groups: ${groups}, jobs since ${since.slice(0, 10)}: ${jobs}.`,
    ...(left > 0
      ? [`${left} entries of GitLab's answers could not be read or placed and are left out.`]
      : []),
    ...(cutRunners.length > 0
      ? [`Runners ${cutRunners.join(', ')} ran more than is read: their older jobs are missing.`]
      : []),
    'Next: fill in the prices, look, and try them on your GitLab:',
    `  npx tollgate policy validate ${flags}`,
    `  npm start -- --router <the router's address> --gitlab ${url} --token-file <file> --proto <file> \\`,
    `    ${flags}`,
    '',
  ].join('\n');
}
