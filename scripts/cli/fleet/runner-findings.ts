import {
  byVersion,
  fallsBack,
  type RouterAccess,
  routerAccess,
} from '../../../functions/core/gitlab/runners.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { MannedRunner } from './read-fleet.ts';

/**
 * Registration of a runner: with a registration token, which GitLab will remove, or created by a user
 * (`glrt-…`).
 */
export type RunnerRegistration = 'registration_token' | 'authentication_token' | 'not_told';

/** Stable, for scripts. */
const FINDING_CODES = [
  'registration_token',
  'registration_not_told',
  'router_unsupported',
  'router_by_environment',
  'router_not_told',
  'router_fallback',
  'version_skew',
  'stale',
  'never_contacted',
  'paused',
  'several_managers',
  'system_id_changes',
] as const;

type FindingCode = (typeof FINDING_CODES)[number];

export interface RunnerReport {
  readonly id: number;
  readonly description: string;
  readonly type: string;
  readonly tags: readonly string[];
  readonly paused: boolean;
  /** `online`, `offline`, `stale` or `never_contacted`, as GitLab says; that of its managers where it says `paused`. */
  readonly status: string;
  readonly registration: RunnerRegistration;
  readonly managers: readonly {
    readonly systemId: string;
    readonly version?: string;
    readonly platform?: string;
    readonly architecture?: string;
    readonly contactedAt?: string;
    readonly status: string;
    readonly router: RouterAccess;
  }[];
  readonly findings: readonly FindingCode[];
}

/** GitLab calls a runner stale after so long without a word. */
const STALE_MS = 7 * DAY_MS;

export const registrationOf = ({ runner }: MannedRunner): RunnerRegistration =>
  runner.createdBy === undefined
    ? 'not_told'
    : runner.createdBy === 'user'
      ? 'authentication_token'
      : 'registration_token';

export function reportOf(manned: MannedRunner, nowMs: number): RunnerReport {
  const { runner, managers } = manned;
  return {
    id: runner.id,
    description: runner.description,
    type: runner.type,
    tags: runner.tags,
    paused: runner.paused,
    status: statusOf(manned),
    registration: registrationOf(manned),
    managers: managers.map(({ contactedAtMs, ...manager }) => ({
      ...manager,
      ...(contactedAtMs !== undefined && { contactedAt: new Date(contactedAtMs).toISOString() }),
      router: routerAccess(manager.version),
    })),
    findings: findingsOf(manned, nowMs),
  };
}

/** A paused runner says only that; its managers know more. */
function statusOf({ runner, managers }: MannedRunner): string {
  if (runner.status !== 'paused') return runner.status;
  if (managers.length === 0) return 'never_contacted';
  const known = ['online', 'offline', 'stale'];
  return known.find((status) => managers.some((manager) => manager.status === status)) ?? 'offline';
}

function findingsOf(manned: MannedRunner, nowMs: number): readonly FindingCode[] {
  const { runner, managers } = manned;
  const registration = registrationOf(manned);
  const alive = managers.filter(({ status, contactedAtMs }) => {
    const isOld = contactedAtMs !== undefined && nowMs - contactedAtMs > STALE_MS;
    return status !== 'stale' && !isOld;
  });
  // Machines stopped weeks ago run no jobs, so their version is irrelevant.
  const versions = alive.map(({ version }) => version);
  const supports = new Set(versions.map(routerAccess));
  const told = versions.filter((version) => version !== undefined).sort(byVersion);
  const [oldest, newest] = [told[0], told.at(-1)];
  const isStale = managers.length > 0 && alive.length === 0;
  const holds: Readonly<Record<FindingCode, boolean>> = {
    registration_token: registration === 'registration_token',
    registration_not_told: registration === 'not_told',
    router_unsupported: supports.has('none'),
    router_by_environment: supports.has('environment'),
    router_not_told: supports.has('unknown'),
    router_fallback: versions.some(fallsBack),
    version_skew: oldest !== undefined && newest !== undefined && byVersion(oldest, newest) !== 0,
    stale: isStale,
    never_contacted: managers.length === 0,
    paused: runner.paused,
    several_managers: alive.length > 1,
    // Such an id changes at each start, unless it is stored.
    system_id_changes: managers.some(({ systemId }) => systemId.startsWith('r_')),
  };
  return FINDING_CODES.filter((code) => holds[code]);
}

/** Fails `--check`: the runner bypasses admission, or stops working with a coming GitLab. */
export const needsChange = ({ findings }: RunnerReport): boolean =>
  findings.includes('router_unsupported') || findings.includes('registration_token');

/** In the order of the table's remedies; a finding without one needs nothing. */
export const REMEDIES: readonly { readonly code: FindingCode; readonly remedy: string }[] = [
  {
    code: 'router_unsupported',
    remedy:
      'cannot use the job router, so their jobs pass Tollgate by: upgrade GitLab Runner to 18.11 or newer',
  },
  {
    code: 'router_by_environment',
    remedy:
      'use the job router only with FF_USE_JOB_ROUTER=true in the environment of the process (18.9, 18.10); since 18.11 it is FF_USE_JOB_ROUTER = true in [runners.feature_flags], and the environment does nothing',
  },
  {
    code: 'router_not_told',
    remedy: 'have a version that GitLab does not tell, or none that can be read: look at the machine',
  },
  {
    code: 'router_fallback',
    remedy:
      'go past the router for half a minute when it fails three times in a row (about 19.2 and newer): the sweep charges what they run then',
  },
  {
    code: 'registration_token',
    remedy:
      'were probably registered with a registration token, which GitLab is to remove (20.0): tollgate fleet migrate',
  },
  {
    code: 'registration_not_told',
    remedy: 'came to GitLab nobody knows how: this version does not tell who created a runner',
  },
  {
    code: 'version_skew',
    remedy: 'have managers of several versions: what holds for one need not for the others',
  },
  { code: 'stale', remedy: 'were not heard for a week: delete them if they are gone' },
  { code: 'never_contacted', remedy: 'never asked for a job: delete them, or start a manager' },
  {
    code: 'several_managers',
    remedy:
      'have several managers under one token: they share its limit of job requests, and a token that rotates by itself reaches only the first',
  },
  {
    code: 'system_id_changes',
    remedy: 'have managers whose system id changes with every start: keep the file .runner_system_id',
  },
];
