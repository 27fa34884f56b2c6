import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { atOnce } from '../../../functions/core/environment/environment.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import {
  byVersion,
  createFleet,
  type FleetGitLab,
  type FleetRunner,
  type RunnerManager,
  routerAccess,
} from '../../../functions/core/gitlab/runners.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print, readWhole, severalWords, toggle } from '../../terminal/define.ts';
import { paintWhen, printable, right, table } from '../../terminal/table.ts';
import { systemCause } from '../../terminal/user-file.ts';
import { counted, pagesOf } from '../reconcile/compare-with-gitlab.ts';
import { type GitLabPlace, neededGitLab, readGitLabPlace } from '../reconcile/gitlab-flags.ts';
import { confirmOnTerminal, type Progress, progressOf } from '../reconcile/progress.ts';

const fleetLs = command({
  name: 'fleet ls',
  about: `Managers are the processes that work under a runner's token. GitLab does not report whether FF_USE_JOB_ROUTER is set, and shows
how a runner was registered only by whether it has a creator. Makes two calls for each runner; changes nothing.`,
  flags: {
    ...neededGitLab(),
    check: toggle('exit 2 if a runner cannot use the router or has to be registered again'),
  },
  examples: ['tollgate fleet ls --gitlab https://gitlab.example.com --token-file token --check'],
  exits: { 1: 'GitLab does not answer', 2: 'with --check: a runner needs a change' },
  run: async ({ flags }, io) => {
    const { runners, ...rest } = await readFleet(readGitLabPlace(flags, io), progressOf('calls', io));
    const reports = runners.map((each) => reportRunner(each, io.nowMs()));
    // The runner bypasses admission, or stops working with a coming GitLab.
    const needsChange = reports.some(
      ({ findings }) => findings.includes('router_unsupported') || findings.includes('registration_token'),
    );
    const notes = [
      rest.unreadable > 0 &&
        `${rest.unreadable} entries of GitLab's answers could not be read and are left out.\n`,
      rest.cut && 'There are more runners: only this many are checked.\n',
    ].filter(Boolean);
    print(io, flags, { runners: reports, ...rest }, () => [fleetText(reports, io), ...notes].join(''));
    return flags.check && needsChange ? EXIT.wouldReject : EXIT.ok;
  },
});

const STALE_MS = 7 * DAY_MS;

function reportRunner(manned: RunnerWithManagers, nowMs: number) {
  const { runner, managers } = manned;
  const registration = readRegistration(manned);
  // Machines stopped weeks ago run no jobs, so their version is irrelevant.
  const alive = managers.filter(
    ({ status, contactedAtMs = nowMs }) => status !== 'stale' && nowMs - contactedAtMs <= STALE_MS,
  );
  const routers = new Set(alive.map(({ version }) => routerAccess(version)));
  const isFound: Readonly<Record<Finding, boolean>> = {
    registration_token: registration === 'registration_token',
    router_unsupported: routers.has('none'),
    router_by_environment: routers.has('environment'),
    router_not_told: routers.has('unknown'),
  };
  const { id, description, type, tags, paused, status } = runner;
  return {
    ...{ id, description, type, tags, paused, status, registration },
    managers: managers.map(({ contactedAtMs, ...manager }) => ({
      ...manager,
      ...(contactedAtMs !== undefined && { contactedAt: new Date(contactedAtMs).toISOString() }),
      router: routerAccess(manager.version),
    })),
    findings: FINDINGS.filter((code) => isFound[code]),
  };
}

/** After "Runners that". Codes are stable, for scripts. */
const REMEDIES = {
  registration_token:
    'were probably registered with a registration token, which GitLab is to remove (20.0): tollgate fleet migrate',
  router_unsupported:
    'cannot use the job router, so their jobs pass Tollgate by: upgrade GitLab Runner to 18.11 or newer',
  router_by_environment:
    'use the job router only with FF_USE_JOB_ROUTER=true in the environment of the process (18.9, 18.10); since 18.11 it is FF_USE_JOB_ROUTER = true in [runners.feature_flags], and the environment does nothing',
  router_not_told: 'have an unknown or unreadable version: look at the machine',
} as const;
type Finding = keyof typeof REMEDIES;
const FINDINGS = Object.keys(REMEDIES) as Finding[];

const REGISTRATIONS = {
  registration_token: 'registration token',
  authentication_token: 'glrt- token',
  not_told: 'unknown',
} as const;

const ROUTERS: Readonly<Record<ReturnType<typeof routerAccess>, string>> = {
  none: 'no',
  environment: 'by environment',
  feature_flag: 'by feature flag',
  unknown: 'unknown',
};

function fleetText(reports: readonly ReturnType<typeof reportRunner>[], io: TerminalIo): string {
  if (reports.length === 0) return 'GitLab has no runner that this token may see.\n';
  const paint = paintWhen(io.colours);
  const titles = [right('runner'), 'state', 'registered by', right('managers'), 'version', 'job router'];
  const rows = reports.map(({ id, paused, status, registration, managers, description }) => {
    const routers = [...new Set(managers.map(({ router }) => router))];
    const text = routers.map((each) => ROUTERS[each]).join(', ') || '-';
    const versions = managers.flatMap(({ version }) => version ?? []).sort(byVersion);
    const [oldest, newest] = [versions[0] ?? '-', versions.at(-1) ?? '-'];
    const state = paused && status !== 'paused' ? `${status}, paused` : status;
    return [
      ...[String(id), state, REGISTRATIONS[registration], String(managers.length)],
      oldest === newest ? oldest : `${oldest} to ${newest}`,
      ...[routers.includes('none') ? paint.bad(text) : text, description],
    ];
  });
  const remedies = FINDINGS.flatMap((code) => {
    const ids = reports.filter(({ findings }) => findings.includes(code)).map(({ id }) => id);
    return ids.length === 0 ? [] : `- ${ids.join(', ')}: ${REMEDIES[code]}\n`;
  });
  const list = table([...titles, 'description'], rows, io.columns, paint.dim);
  return `${list}\n${remedies.length === 0 ? '' : `Runners that\n${remedies.join('')}`}`;
}

export interface RunnerWithManagers {
  readonly runner: FleetRunner;
  readonly managers: readonly RunnerManager[];
}

/** Registered with a registration token, which GitLab will remove, or created by a user (`glrt-…`). */
function readRegistration({ runner: { createdBy } }: RunnerWithManagers): keyof typeof REGISTRATIONS {
  if (createdBy === undefined) return 'not_told';
  return createdBy === 'user' ? 'authentication_token' : 'registration_token';
}

/** Two calls a runner: more would take a quarter of an hour. */
const RUNNERS_MAX = 2_000;
const AT_ONCE = 4;

/** Ascending by id. `unreadable` counts runners and managers; `cut`: there are more than are looked at. @throws {GitLabError} */
export async function readFleet(place: GitLabPlace, progress: Progress) {
  const fleet = createFleet(place);
  const calls = { sleep: place.clock.sleep, onCall: progress.step };
  const ids = new Set<number>();
  let unreadable = 0;
  let next: string | undefined;
  for await (const found of pagesOf((from) => fleet.listed(from), calls)) {
    for (const { id } of found.runners) ids.add(id);
    unreadable += found.unreadable ?? 0;
    next = found.next;
    if (ids.size >= RUNNERS_MAX) break;
  }
  const wanted = [...ids].sort((a, b) => a - b).slice(0, RUNNERS_MAX);
  const runners: RunnerWithManagers[] = [];
  await atOnce(wanted, AT_ONCE, async (id) => {
    try {
      const runner = await counted(() => fleet.runner(id), calls);
      if (runner === undefined) return;
      const { managers, unreadable: odd = 0 } = await counted(() => fleet.managers(id), calls);
      unreadable += odd;
      runners.push({ runner, managers });
    } catch (error) {
      if (!(error instanceof GitLabError && error.code === 'gitlab_unreadable')) throw error;
      unreadable += 1;
    }
  });
  progress.done();
  runners.sort((a, b) => a.runner.id - b.runner.id);
  return { runners, unreadable, cut: next !== undefined || ids.size > RUNNERS_MAX };
}

const NAMED_MAX = 200;
const TIMEOUT_SECONDS_MIN = 600;
const NOTE_CHARACTERS_MAX = 1_024;

const fleetMigrate = command({
  name: 'fleet migrate',
  about: `Runners with a registration token have to be registered again before GitLab removes those tokens. For each it shows the next
step. With --apply it does what REST can do:

  create   makes a runner like it; its token goes into a file of mode 600, once: GitLab shows it only now  (--apply)
  install  that token has to get into the config.toml of every manager                                     (by hand)
  pause    all managers use the new one: the old runner takes no more jobs                                 (--apply)
  delete   the old runner can go when its last job has ended                                               (by hand)

Call it again after each step. It deletes nothing. If GitLab does not report how a runner was registered, name it.`,
  words: { runners: severalWords('[<runner id> …]', 'only these runners', [0, NAMED_MAX]) },
  expects: `at most ${NAMED_MAX} runner ids`,
  flags: {
    ...neededGitLab(),
    apply: toggle('makes the steps create and pause; the token then needs the scope api'),
    yes: toggle('does not ask'),
  },
  examples: [
    'tollgate fleet migrate --gitlab https://gitlab.example.com --token-file token',
    'tollgate fleet migrate 17 18 --gitlab https://gitlab.example.com --token-file token --apply',
  ],
  exits: { 0: 'done or nothing to do', 1: 'GitLab does not answer', 2: 'refused, nothing was changed' },
  run: async ({ flags, words }, io) => {
    const named = new Set(words.runners.map((given) => readWhole('runner', given, 1, 2 ** 31)));
    const place = readGitLabPlace(flags, io);
    const { runners } = await readFleet(place, progressOf('calls', io));
    const moves = planMoves(runners, named);
    const missing = [...named].filter((id) => !moves.some(({ from }) => from.runner.id === id));
    if (missing.length > 0)
      throw new UsageError(
        `runner ${missing.join(', ')}: GitLab has no such runner, or it has an authentication token already`,
      );
    const wanted = moves.filter(({ step }) => flags.apply && (step === 'create' || step === 'pause'));
    const created = wanted.filter(({ step }) => step === 'create').length;
    const question = `Create ${created} runners and pause ${wanted.length - created}?`;
    const remedy = 'there is no terminal to ask: add --yes if it is meant';
    if (wanted.length > 0 && !flags.yes && !(await confirmOnTerminal(io, question, remedy)))
      return EXIT.wouldReject;
    const fleet = createFleet(place);
    const paint = paintWhen(io.colours);
    const migrations = [];
    for (const move of moves) {
      const { from, step, to } = move;
      const applied = wanted.includes(move) ? await applyStep(move, fleet, io.cwd) : undefined;
      const result = {
        ...{ runner: from.runner.id, step, applied: applied !== undefined },
        ...withoutAbsent({ successor: to?.runner.id }),
        remains: REMAINS[step](move),
        ...applied,
      };
      migrations.push(result);
      const made = step === 'create' && applied ? `made runner ${result.successor}\n        ` : '';
      const name = printable(`${from.runner.id} ${from.runner.description}`);
      const done = applied === undefined ? '      ' : paint.good('done  ');
      if (!flags.json)
        io.out(`${done}${step.padEnd(8)}runner ${name}\n        ${made}${printable(result.remains)}\n`);
    }
    if (flags.json) io.out(`${JSON.stringify({ migrations })}\n`);
    else if (moves.length === 0) io.out('No runner is known to have come by a registration token.\n');
    return EXIT.ok;
  },
});

type MigrationStep = 'create' | 'install' | 'pause' | 'delete';

interface RunnerMove {
  readonly from: RunnerWithManagers;
  readonly step: MigrationStep;
  readonly to: RunnerWithManagers | undefined;
}

async function applyStep(move: RunnerMove, fleet: FleetGitLab, folder: string) {
  const { runner } = move.from;
  if (move.step === 'pause') {
    await fleet.pause(runner.id);
    return { remains: REMAINS.delete(move) };
  }
  // Opened before the runner is made: a token that cannot be kept is lost.
  const tokenFile = join(folder, `runner-in-place-of-${runner.id}.token`);
  const file = openForToken(tokenFile);
  let isKept = false;
  try {
    const { description, type, tags, runUntagged, locked, accessLevel, maximumTimeoutSeconds = 0 } = runner;
    const note = [successorNote(runner.id), runner.maintenanceNote ?? ''].join('\n').trim();
    const { id, token } = await fleet.create({
      ...{ description, type, tags, runUntagged, locked, accessLevel },
      maintenanceNote: note.slice(0, NOTE_CHARACTERS_MAX),
      ...(maximumTimeoutSeconds >= TIMEOUT_SECONDS_MIN && { maximumTimeoutSeconds }),
      ...withoutAbsent({ ownerId: runner.ownerIds[0] }),
    });
    writeSync(file, `${token}\n`);
    isKept = true;
    return { successor: id, tokenFile, remains: REMAINS.install(move, id, tokenFile) };
  } finally {
    closeSync(file);
    if (!isKept) unlinkSync(tokenFile);
  }
}

/** @throws {UsageError} if the file exists: it may be the only copy of a token. */
function openForToken(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new UsageError(
      isThere
        ? `${path} is there already and may hold the only copy of a token; move it away`
        : `${path}: cannot be written: ${systemCause(error)}`,
    );
  }
}

const REMAINS: Readonly<
  Record<MigrationStep, (move: RunnerMove, successor?: number, tokenFile?: string) => string>
> = {
  create: ({ from: { runner } }) => {
    const untagged = runner.runUntagged ? ', jobs without tags' : '';
    const others = runner.ownerIds.length - 1;
    const assign = others > 0 ? `; then assign the new runner to its ${others} other projects` : '';
    return `POST /user/runners with type ${runner.type}, tags ${runner.tags.join(', ') || 'none'}${untagged}: run this with --apply${assign}`;
  },
  install: (
    move,
    successor = move.to?.runner.id,
    tokenFile = 'the file that was written when it was made',
  ) => {
    const managers = unmoved(move).map(({ systemId }) => systemId);
    return `in the config.toml of ${managers.join(', ') || 'its managers'} set id = ${successor} and the token from ${tokenFile}. Policy, limits and scopes of the controller that name runner ${move.from.runner.id} have to name ${successor}. If that file is lost, delete runner ${successor} and start again`;
  },
  pause: ({ from }) => `PUT /runners/${from.runner.id} with paused: run this with --apply`,
  delete: ({ from }) => `delete runner ${from.runner.id} in GitLab when its last job has ended`,
};

/** Managers under the old token: one keeps its system id under the new token. Those not heard for a week do not count. */
function unmoved({ from, to }: Pick<RunnerMove, 'from' | 'to'>): RunnerWithManagers['managers'] {
  const heard = new Set(to?.managers.map(({ systemId }) => systemId));
  return from.managers.filter(({ status, systemId }) => status !== 'stale' && !heard.has(systemId));
}

/** In the new runner's maintenance note: a later call finds by it what an earlier one made. */
const successorNote = (runnerId: number): string => `tollgate: in place of runner ${runnerId}`;

/** Lists runners to register again: those with a registration token, and named ones of unknown origin. */
function planMoves(
  runners: readonly RunnerWithManagers[],
  named: ReadonlySet<number>,
): readonly RunnerMove[] {
  const others = runners.filter((each) => readRegistration(each) !== 'registration_token');
  const successors = new Map(others.map((each) => [each.runner.maintenanceNote?.split('\n')[0], each]));
  return runners.flatMap((from): readonly RunnerMove[] => {
    const registration = readRegistration(from);
    const isMeant = named.size === 0 ? registration === 'registration_token' : named.has(from.runner.id);
    if (!isMeant || registration === 'authentication_token') return [];
    const to = successors.get(successorNote(from.runner.id));
    return [{ from, to, step: nextStep(from, to) }];
  });
}

function nextStep(from: RunnerWithManagers, to: RunnerWithManagers | undefined): MigrationStep {
  if (to === undefined) return 'create';
  if (from.runner.paused) return 'delete';
  return to.managers.length === 0 || unmoved({ from, to }).length > 0 ? 'install' : 'pause';
}

export const commands = [fleetLs, fleetMigrate];
