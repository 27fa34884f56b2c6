import { byVersion, fallsBack, routerAccess } from '../../../functions/core/gitlab/runners.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { MannedRunner } from './read-fleet.ts';

/** GitLab calls a runner stale after so long without a word. */
const STALE_MS = 7 * DAY_MS;

/** Registered with a registration token, which GitLab will remove, or created by a user (`glrt-…`). */
export function registrationOf({
  runner: { createdBy },
}: MannedRunner): 'registration_token' | 'authentication_token' | 'not_told' {
  if (createdBy === undefined) return 'not_told';
  return createdBy === 'user' ? 'authentication_token' : 'registration_token';
}

/** What findings are made of. */
function factsOf(manned: MannedRunner, nowMs: number) {
  const { runner, managers } = manned;
  // Machines stopped weeks ago run no jobs, so their version is irrelevant.
  const alive = managers.filter(
    ({ status, contactedAtMs = nowMs }) => status !== 'stale' && nowMs - contactedAtMs <= STALE_MS,
  );
  const versions = alive.map(({ version }) => version);
  const routers = new Set(versions.map(routerAccess));
  return { runner, managers, alive, versions, routers, registration: registrationOf(manned) };
}

interface FindingRow {
  /** Stable, for scripts. */
  readonly code: string;
  readonly holds: (facts: ReturnType<typeof factsOf>) => boolean;
  /** After "Runners that". Absent: nothing is to be done. */
  readonly remedy?: string;
}

export const FINDINGS: readonly FindingRow[] = [
  {
    code: 'registration_token',
    holds: ({ registration }) => registration === 'registration_token',
    remedy:
      'were probably registered with a registration token, which GitLab is to remove (20.0): tollgate fleet migrate',
  },
  {
    code: 'registration_not_told',
    holds: ({ registration }) => registration === 'not_told',
    remedy: 'have an unknown registration: this version of GitLab does not tell who created a runner',
  },
  {
    code: 'router_unsupported',
    holds: ({ routers }) => routers.has('none'),
    remedy:
      'cannot use the job router, so their jobs pass Tollgate by: upgrade GitLab Runner to 18.11 or newer',
  },
  {
    code: 'router_by_environment',
    holds: ({ routers }) => routers.has('environment'),
    remedy:
      'use the job router only with FF_USE_JOB_ROUTER=true in the environment of the process (18.9, 18.10); since 18.11 it is FF_USE_JOB_ROUTER = true in [runners.feature_flags], and the environment does nothing',
  },
  {
    code: 'router_not_told',
    holds: ({ routers }) => routers.has('unknown'),
    remedy: 'have a version that GitLab does not tell, or none that can be read: look at the machine',
  },
  {
    code: 'router_fallback',
    holds: ({ versions }) => versions.some(fallsBack),
    remedy:
      'go past the router for half a minute when it fails three times in a row (about 19.2 and newer): the sweep charges what they run then',
  },
  {
    code: 'version_skew',
    holds: ({ versions }) => new Set(versions.filter((version) => version !== undefined)).size > 1,
    remedy: 'have managers of several versions: what holds for one need not for the others',
  },
  {
    code: 'stale',
    holds: ({ managers, alive }) => managers.length > 0 && alive.length === 0,
    remedy: 'were not heard for a week: delete them if they are gone',
  },
  {
    code: 'never_contacted',
    holds: ({ managers }) => managers.length === 0,
    remedy: 'never asked for a job: delete them, or start a manager',
  },
  { code: 'paused', holds: ({ runner }) => runner.paused },
  {
    code: 'several_managers',
    holds: ({ alive }) => alive.length > 1,
    remedy:
      'have several managers under one token: they share its limit of job requests, and a token that rotates by itself reaches only the first',
  },
  {
    code: 'system_id_changes',
    // Such an id changes at each start, unless it is stored.
    holds: ({ managers }) => managers.some(({ systemId }) => systemId.startsWith('r_')),
    remedy: 'have managers whose system id changes with every start: keep the file .runner_system_id',
  },
];

export type RunnerReport = ReturnType<typeof reportOf>;

export function reportOf(manned: MannedRunner, nowMs: number) {
  const { runner, managers } = manned;
  const facts = factsOf(manned, nowMs);
  return {
    id: runner.id,
    description: runner.description,
    type: runner.type,
    tags: runner.tags,
    paused: runner.paused,
    /** `online`, `offline`, `stale` or `never_contacted`, as GitLab says; that of its managers where it says `paused`. */
    status: statusOf(manned),
    registration: facts.registration,
    managers: managers.map(({ contactedAtMs, ...manager }) => ({
      ...manager,
      ...(contactedAtMs !== undefined && { contactedAt: new Date(contactedAtMs).toISOString() }),
      router: routerAccess(manager.version),
    })),
    findings: FINDINGS.flatMap(({ code, holds }) => (holds(facts) ? code : [])),
  };
}

function statusOf({ runner, managers }: MannedRunner): string {
  if (runner.status !== 'paused') return runner.status;
  const known = ['online', 'offline', 'stale'];
  const best = known.find((status) => managers.some((manager) => manager.status === status));
  return best ?? (managers.length === 0 ? 'never_contacted' : 'offline');
}

/** `18.9 to 19.3` */
export function versionsText({ managers }: RunnerReport): string {
  const versions = managers.flatMap(({ version }) => version ?? []).sort(byVersion);
  const [oldest, newest] = [versions[0] ?? '-', versions.at(-1) ?? '-'];
  return oldest === newest ? oldest : `${oldest} to ${newest}`;
}
