import { randomBytes } from 'node:crypto';
import { readWholeDirectory } from '../../../functions/core/directory/directory-part.ts';
import { type DirectorySyncReport, syncDirectory } from '../../../functions/core/directory/sync.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { createGitLabDirectory } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { REGISTER_TIMEOUT_MS } from '../../../functions/core/ledger/instances.ts';
import { deleteItem } from '../../../functions/core/store/calls.ts';
import { INSTANCES_PK } from '../../../functions/core/store/keys.ts';
import { type InstanceTable, TimeLimit } from '../../../functions/core/store/operation.ts';
import { answered, unavailable } from '../../../functions/core/store/table-failure.ts';
import { type Directory, findGroup, findProject } from '../../../policies/directory.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { EXIT, type ExitCode, standIn, UsageError } from '../../terminal/command.ts';
import { command, optionalWord, print, required, toggle, word } from '../../terminal/define.ts';
import { printable, right, type Screen, textLines } from '../../terminal/table.ts';
import { notInDirectory } from '../evaluation/unknown-place.ts';
import { rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { openRegister, openToEdit, withOpened } from '../open-ledger.ts';
import { GITLAB_FLAGS, type GitLabPlace, readGitLabPlace } from '../reconcile/gitlab-flags.ts';

const { ledger, region, endpoint } = TABLE_FLAGS;
const FLAGS = { ledger, region, endpoint };
const HOST = word('<host>', 'as gitlab.instance of the settings, e.g. gitlab.example.com');
const HOST_FORM = /^[\w.-]{1,253}$/;

function checkHost(host: string): void {
  if (!HOST_FORM.test(host)) throw new UsageError(`"${host}": expected a host, e.g. gitlab.example.com`);
}

const instanceLs = command({
  name: 'instance ls',
  flags: FLAGS,
  examples: ['tollgate instance ls --ledger tollgate-ledger'],
  run: ({ flags }, io) =>
    withOpened(openRegister, flags, io, async ({ register, description }) => {
      const instances = await register.list();
      return print(io, flags, { instances }, (screen) => {
        if (instances.length === 0)
          return `${description} knows no GitLab yet: the first program that writes registers its own.\n`;
        const rows = instances.map(({ instance, gitlabUrl, openedAtMs }) => [
          instance,
          gitlabUrl ?? '–',
          openedAtMs === 0 ? '–' : instantText(openedAtMs, rollupZone(io)),
        ]);
        return screen.table(['Instance', 'Answers at', 'Last opened'], rows);
      });
    }),
});

const instanceAdd = command({
  name: 'instance add',
  about: `It begins empty. For a renamed GitLab set gitlab.instance in cdk/tollgate.config.ts to the old host and gitlab.url to the new
address instead.`,
  words: { host: HOST },
  flags: FLAGS,
  examples: ['tollgate instance add gitlab.example.com --ledger tollgate-ledger'],
  run: ({ flags, words: { host } }, io) => {
    checkHost(host);
    return withOpened(openRegister, flags, io, async ({ register, description }) => {
      const known = await register.list();
      if (known.some(({ instance }) => instance === host))
        throw new UsageError(`${description} has a ledger of ${host} already`);
      await register.remember({ instance: host, openedAtMs: io.nowMs() });
      const text = `${description} takes a ledger of ${host}, which begins empty. Programs notice within a minute.\n`;
      return print(io, flags, { added: host }, () => text);
    });
  },
});

const instanceForget = command({
  name: 'instance forget',
  about: `Its items stay, and are not read any more.`,
  words: { host: HOST },
  flags: FLAGS,
  examples: ['tollgate instance forget gitlab.wrong.example.com --ledger tollgate-ledger'],
  run: ({ flags, words: { host } }, io) => {
    checkHost(host);
    return withOpened(openRegister, flags, io, async ({ register, description, table: items }) => {
      const names = (await register.list()).map(({ instance }) => instance);
      if (!names.includes(host))
        throw new UsageError(
          `${description} has no ledger of ${host}; it has those of ${names.join(' and ') || 'none'}`,
        );
      if (names.length === 1)
        throw new UsageError(
          `${host} is the only name; add the right one first: tollgate instance add <host>`,
        );
      await standIn(io, forgetInstance)(host, items);
      return print(io, flags, { forgotten: host }, () => `${description} does not know ${host} any more.\n`);
    });
  },
});

/** Items under that name stay. No function may do this. @throws {LedgerError} `ledger_unavailable` */
export const forgetInstance = (instance: string, { table }: Pick<InstanceTable, 'table'>): Promise<void> =>
  answered('forget whose books these are', unavailable(table), () =>
    deleteItem(table, { pk: INSTANCES_PK, sk: instance }, new TimeLimit(REGISTER_TIMEOUT_MS)),
  );

const TIMEOUT_MS = 15_000;

const directoryShow = command({
  name: 'directory show',
  about: `Without a group or project it shows their number, and as of when.`,
  words: { place: optionalWord('<id | path>', 'of a group or project') },
  flags: TABLE_FLAGS,
  examples: ['tollgate directory show', 'tollgate directory show acme/payments'],
  exits: {
    1: 'the table does not answer, or nothing was synced yet',
    3: 'wrong usage or an unknown id or path',
  },
  run: async ({ flags, words: { place } }, io) => {
    const whole = await withOpened(openToEdit, flags, io, ({ directory }) =>
      readWholeDirectory(directory, { timeoutMs: TIMEOUT_MS }),
    );
    if (whole === undefined) {
      io.err(
        'GitLab’s groups have not been listed completely, so policies/directory.yaml is in use. Run tollgate directory sync.\n',
      );
      return EXIT.failed;
    }
    if (place === undefined) {
      const known = figures(whole);
      return print(io, flags, known, () => figuresText(known));
    }
    const found = find(place, whole.directory);
    if (found.length === 0) {
      const { groupByPath, projectByPath } = whole.directory;
      throw notInDirectory(printable(place), place, [...groupByPath.keys(), ...projectByPath.keys()]);
    }
    return print(io, flags, { found }, (screen) => foundText(found, screen));
  },
});

const figures = ({ pointer, directory }: NonNullable<Awaited<ReturnType<typeof readWholeDirectory>>>) => {
  const personal = [...directory.groupById.values()].filter((group) => group.personal).length;
  return {
    edit: pointer.edit,
    at: new Date(pointer.atMs).toISOString(),
    groups: directory.groupById.size - personal,
    personalNamespaces: personal,
    projects: directory.projectById.size,
    /** Groups with unknown parents: only their root's limits apply. */
    groupsWithoutChain: directory.groupById.size - directory.chainById.size,
  };
};

const figuresText = (known: ReturnType<typeof figures>): string =>
  `As of ${known.at}, sync ${known.edit}: ${known.groups} groups, ${known.personalNamespaces} personal namespaces, ${known.projects} projects, ${known.groupsWithoutChain} groups with unknown parents\n`;

function find(word: string, directory: Directory) {
  const { chainById } = directory;
  const group = findGroup(word, directory);
  const project = findProject(word, directory);
  const chainOf = (groupId: number) =>
    (chainById.get(groupId) ?? []).map((each) => ({ id: each.id, path: each.path }));
  return [
    group && { kind: 'group', id: group.id, path: group.path, above: chainOf(group.id).slice(0, -1) },
    project && { kind: 'project', id: project.id, path: project.path, above: chainOf(project.groupId) },
  ].filter((each) => each !== undefined);
}

const foundText = (found: ReturnType<typeof find>, screen: Screen): string =>
  screen.table(
    ['', right('id'), 'path'],
    found.flatMap(({ kind, id, path, above }) => [
      ...above.map((group) => ['above', String(group.id), printable(group.path)]),
      [kind, String(id), printable(path)],
    ]),
  );

export const gitlabAt = ({ baseUrl, token, fetch }: GitLabPlace) => ({
  gitlab: createGitLabDirectory({ baseUrl, token, fetch, clock: systemClock }),
  clock: systemClock,
});

const RUNS_MAX = 30;

const directorySync = command({
  name: 'directory sync',
  about: `It continues until a listing that was begun is complete. Jobs are decided by it from its first complete listing of groups on.`,
  flags: {
    gitlab: required(GITLAB_FLAGS.gitlab),
    'token-file': required(GITLAB_FLAGS['token-file']),
    force: toggle('believes GitLab even if it lists far fewer groups or projects than before'),
    ...TABLE_FLAGS,
  },
  examples: ['tollgate directory sync --gitlab https://gitlab.example.com --token-file token'],
  exits: {
    1: 'GitLab or the table does not answer',
    2: 'GitLab lists far less than before, and nothing was dropped',
  },
  run: async ({ flags }, io) => {
    const place = standIn(io, gitlabAt)(readGitLabPlace(flags, io));
    const report = await withOpened(openToEdit, flags, io, async ({ directory: table }) => {
      for (let runs = 1; ; runs += 1) {
        const runId = randomBytes(6).toString('base64url');
        const done = await syncDirectory({ ...place, table, force: flags.force, runId });
        const { calls, groups, projectsListed, groupsListing, projectsGoing, failure } = done;
        if (io.progress) io.err(`${calls} calls: ${groups} groups, ${projectsListed} projects listed\n`);
        const goesOn = done.outcome === 'stale' || groupsListing === 'going' || projectsGoing;
        if (!goesOn || failure !== undefined || runs === RUNS_MAX) return done;
      }
    });
    print(io, flags, report, () => reportText(report));
    return exitCode(report);
  },
});

function exitCode(report: DirectorySyncReport): ExitCode {
  if (report.failure !== undefined || report.outcome === 'stale') return EXIT.failed;
  return report.groupsListing === 'refused' || report.projectsRefused > 0 ? EXIT.wouldReject : EXIT.ok;
}

function reportText(report: DirectorySyncReport): string {
  const fewer = (count: number, what: string) =>
    `GitLab lists ${count} ${what} fewer than before. None was dropped: does the token belong to an administrator? If they are gone, run it with --force.`;
  return textLines([
    `Groups: ${report.groups}${report.live ? '' : ', not listed to the end yet: jobs go by the packed directory'}`,
    `Projects: ${report.projectsListed} listed in the last run, ${report.projectsChanged} changed`,
    report.groupsListing === 'refused' && fewer(report.groupsMissing, 'groups'),
    report.projectsRefused > 0 && fewer(report.projectsRefused, 'projects'),
    exitCode(report) === EXIT.failed &&
      `It did not come to its end (${report.failure ?? 'another sync was faster'}); run it again.`,
  ]);
}

export const commands = [instanceLs, instanceAdd, instanceForget, directoryShow, directorySync];
