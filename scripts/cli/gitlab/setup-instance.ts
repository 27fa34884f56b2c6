/** Checks of the GitLab instance: version, token, licence, flags, settings and router. Changes nothing. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Setup } from './setup-flags.ts';
import type { SetupLines } from './setup-step.ts';

/** Facts about the instance for later steps. Absent: GitLab did not say. */
export interface InstanceFacts {
  readonly version?: string;
  readonly routerUrl?: string | undefined;
  /** Version of GitLab's agent server: it names the descriptors. */
  readonly kasVersion?: string | undefined;
  /** False: the later steps cannot work. */
  readonly isUsable: boolean;
}

/** Runner controllers came with it. */
const VERSION_MIN = [18, 9] as const;
const SIGNS_FROM = [19, 0] as const;
const EXPIRES_SOON_DAYS = 14;

const FLAGS: Readonly<Record<string, string>> = {
  job_router: 'jobs of runners of groups and projects',
  job_router_instance_runners: 'jobs of runners of the instance',
  job_router_admission_control: 'that the router asks at all',
};

export async function checkInstance(setup: Setup, lines: SetupLines): Promise<InstanceFacts> {
  const metadata = await lines.step(async () => lines.need('version', await setup.gitlab.metadata()));
  if (metadata === undefined) return { isUsable: false };
  const { version, kas } = metadata;
  await lines.step(() => checkAccess(setup, lines));
  if (!isAtLeast(version, VERSION_MIN)) {
    lines.add(
      'version',
      'wrong',
      `GitLab ${version} has no runner controllers`,
      'upgrade it to 18.9 or newer',
    );
    return { isUsable: false, version };
  }
  const proof = signsHooks(version)
    ? 'signs its webhooks'
    : 'cannot sign webhooks: they carry a secret token';
  lines.add('version', 'right', `GitLab ${version} ${proof}`);
  await lines.step(() => checkLicence(setup, lines));
  await checkFlags(setup, lines);
  if (setup.hookUrl !== undefined) await checkSilence(setup, lines);
  const [routerUrl, kasVersion] = [kas?.externalUrl ?? undefined, kas?.version ?? undefined];
  if (routerUrl === undefined)
    lines.add(
      'router',
      'wrong',
      'GitLab Relay (KAS), which has the job router, is off',
      "switch it on in GitLab's configuration: gitlab_kas['enable'] = true",
    );
  else if (kasVersion === undefined)
    lines.add('router', 'unknown', `the router is at ${routerUrl}, and GitLab cannot reach it`, 'is KAS up?');
  else lines.add('router', 'right', `the router is at ${routerUrl} (KAS ${kasVersion})`);
  // The list of controllers shows whether token and licence suffice.
  return { isUsable: !lines.has('wrong', 'access'), version, routerUrl, kasVersion };
}

/** Returns true if this GitLab can sign webhooks. */
export const signsHooks = (version = ''): boolean => isAtLeast(version, SIGNS_FROM);

/** Builds are called `19.4.1-jh`, `18.10.2-ee`, `19.3.0-pre`. */
function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}

async function checkAccess({ gitlab, mayChange, place }: Setup, lines: SetupLines): Promise<void> {
  const { scopes, active, expires_at } = lines.need('access', await gitlab.self());
  const token = "the administrator's token";
  const needed = mayChange ? ['api'] : ['api', 'read_api'];
  if (!active) throw lines.stop('access', `${token} is not active`, 'make another one');
  if (!needed.some((scope) => scopes.includes(scope)))
    throw lines.stop(
      'access',
      `${token} has the scopes ${scopes.join(', ')}`,
      `make one with the scope ${needed.at(-1)}, and admin_mode where Admin Mode is on`,
    );
  if (expires_at == null) return lines.add('access', 'right', `${token} does not expire`);
  const isSoon = Date.parse(expires_at) - place.clock.nowMs() < EXPIRES_SOON_DAYS * DAY_MS;
  const note = isSoon ? ': soon, and only this command needs it' : '';
  lines.add('access', 'right', `${token} expires on ${expires_at} at 00:00 UTC${note}`);
}

async function checkLicence({ gitlab }: Setup, lines: SetupLines): Promise<void> {
  const answer = await gitlab.licence();
  if (!answer.ok && answer.refusal.code === 'unreadable')
    return lines.add('licence', 'unknown', 'GitLab does not say which licence it has');
  const licence = lines.need('licence', answer);
  const remedy = 'runner controllers need Ultimate';
  if (licence == null) return lines.add('licence', 'wrong', 'GitLab has no licence', remedy);
  const { plan, expired, expires_at } = licence;
  if (expired === true)
    lines.add('licence', 'wrong', `the licence (${plan}) expired on ${expires_at}`, 'renew it');
  else if (plan !== 'ultimate') lines.add('licence', 'wrong', `the licence is ${plan}`, remedy);
  else lines.add('licence', 'right', `the licence is ultimate, until ${expires_at ?? 'for ever'}`);
}

async function checkFlags({ gitlab }: Setup, lines: SetupLines): Promise<void> {
  const [set, known] = [await gitlab.flags(), await gitlab.flagDefinitions()];
  if (!set.ok) return lines.add('flags', 'unknown', set.refusal.says, set.refusal.remedy);
  for (const [name, what] of Object.entries(FLAGS)) {
    const definition = known.ok ? known.value.find((flag) => flag.name === name) : undefined;
    const byDefault = definition?.default_enabled === true ? 'on' : 'off';
    const state = set.value.find((flag) => flag.name === name)?.state ?? byDefault;
    const remedy = `as an administrator: POST /api/v4/features/${name} with value=true`;
    if (state === 'on') lines.add('flags', 'right', `${name} is on`);
    else if (state === 'conditional')
      lines.add('flags', 'unknown', `${name} is on for some only (${what})`, remedy);
    else if (known.ok && definition === undefined)
      lines.add('flags', 'unknown', `${name} is no flag of this version: it is on, or not there yet`);
    else lines.add('flags', 'wrong', `${name} is off (${what})`, remedy);
  }
}

/** @see https://docs.gitlab.com/administration/silent_mode/ */
async function checkSilence({ gitlab }: Setup, lines: SetupLines): Promise<void> {
  const answer = await gitlab.settings();
  if (!answer.ok) lines.add('settings', 'unknown', answer.refusal.says, answer.refusal.remedy);
  else if (answer.value.silent_mode_enabled === true)
    lines.add(
      'settings',
      'wrong',
      'GitLab is in Silent Mode, in which it sends no webhooks',
      'as an administrator: PUT /api/v4/application/settings with silent_mode_enabled=false',
    );
  else lines.add('settings', 'right', 'GitLab sends webhooks: Silent Mode is off');
}
