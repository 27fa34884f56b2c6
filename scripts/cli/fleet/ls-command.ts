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
import { EXIT, type TerminalIo } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { toggle } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { right, table } from '../../terminal/table.ts';
import { counted, pagesOf } from '../truth/compare-with-gitlab.ts';
import { callsTo, type GitLabPlace, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { type Progress, progressOf } from '../truth/progress.ts';

const fleetLs = command({
  name: 'fleet ls',
  about: `Lists all runners of GitLab with the processes that work under their tokens (managers): how they were registered, their
versions, and whether these know the job router. GitLab does not report whether FF_USE_JOB_ROUTER is set. It shows how a runner was
registered only by whether the runner has a creator. Makes two calls for each runner; changes nothing.`,
  flags: {
    ...neededGitLab(),
    check: toggle('exit 2 if a runner cannot use the router or has to be registered again'),
  },
  examples: ['tollgate fleet ls --gitlab https://gitlab.example.com --token-file token --check'],
  exits: { 0: 'listed', 1: 'GitLab does not answer', 2: 'with --check: a runner needs a change' },
  run: async ({ flags }, io) => {
    const { runners, ...rest } = await readFleet(readGitLabPlace(flags, io), progressOf('calls', io));
    const reports = runners.map((each) => reportOf(each, io.nowMs()));
    // The runner bypasses admission, or stops working with a coming GitLab.
    const needsChange = reports.some(
      ({ findings }) => findings.includes('router_unsupported') || findings.includes('registration_token'),
    );
    const notes = [
      rest.unreadable > 0 &&
        `${rest.unreadable} entries of GitLab's answers could not be read and are left out.\n`,
      rest.cut && 'There are more runners than these: only so many are looked at.\n',
    ].filter(Boolean);
    print(io, flags, { runners: reports, ...rest }, () => [fleetText(reports, io), ...notes].join(''));
    return flags.check && needsChange ? EXIT.wouldReject : EXIT.ok;
  },
});

export const commands = [fleetLs];

const STALE_MS = 7 * DAY_MS;

function reportOf(manned: MannedRunner, nowMs: number) {
  const { runner, managers } = manned;
  const registration = registrationOf(manned);
  // Machines stopped weeks ago run no jobs, so their version is irrelevant.
  const alive = managers.filter(
    ({ status, contactedAtMs = nowMs }) => status !== 'stale' && nowMs - contactedAtMs <= STALE_MS,
  );
  const routers = new Set(alive.map(({ version }) => routerAccess(version)));
  const holds: Readonly<Record<Finding, boolean>> = {
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
    findings: FINDINGS.filter((code) => holds[code]),
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
  router_not_told: 'have a version that GitLab does not tell, or none that can be read: look at the machine',
} as const;
type Finding = keyof typeof REMEDIES;
const FINDINGS = Object.keys(REMEDIES) as Finding[];

const REGISTRATIONS: Readonly<Record<ReturnType<typeof registrationOf>, string>> = {
  registration_token: 'registration token',
  authentication_token: 'glrt- token',
  not_told: 'not told',
};

const ROUTERS: Readonly<Record<ReturnType<typeof routerAccess>, string>> = {
  none: 'no',
  environment: 'by environment',
  feature_flag: 'by feature flag',
  unknown: 'not told',
};

function fleetText(reports: readonly ReturnType<typeof reportOf>[], io: TerminalIo): string {
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

export interface MannedRunner {
  readonly runner: FleetRunner;
  readonly managers: readonly RunnerManager[];
}

/** Registered with a registration token, which GitLab will remove, or created by a user (`glrt-…`). */
export function registrationOf({
  runner: { createdBy },
}: MannedRunner): 'registration_token' | 'authentication_token' | 'not_told' {
  if (createdBy === undefined) return 'not_told';
  return createdBy === 'user' ? 'authentication_token' : 'registration_token';
}

export const openFleet = (place: GitLabPlace): FleetGitLab => createFleet(callsTo(place));

/** Two calls a runner: more would take a quarter of an hour. */
const RUNNERS_MAX = 2_000;
const AT_ONCE = 4;

/** Ascending by id. `unreadable` counts runners and managers; `cut`: there are more than are looked at. @throws {GitLabError} */
export async function readFleet(place: GitLabPlace, progress: Progress) {
  const fleet = openFleet(place);
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
  const runners: MannedRunner[] = [];
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
