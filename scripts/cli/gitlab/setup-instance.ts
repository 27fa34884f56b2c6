/** Checks of the GitLab instance: version, token, licence, flags and router. Changes nothing. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Setup } from './setup-flags.ts';
import type { SetupLines } from './setup-step.ts';

const VERSION_MIN = [18, 9] as const;
const SIGNS_FROM = [19, 0] as const;
const EXPIRES_SOON_DAYS = 14;

const FLAGS: Readonly<Record<string, string>> = {
  job_router: 'jobs of runners of groups and projects',
  job_router_instance_runners: 'jobs of runners of the instance',
  job_router_admission_control: 'that the router asks at all',
};

/** Absent facts: GitLab did not say. Without `isUsable` later steps cannot work. */
export async function checkInstance(setup: Setup, lines: SetupLines) {
  const metadata = await lines.step(async () => lines.need('version', await setup.gitlab.metadata()));
  const version = metadata?.version;
  // KAS is GitLab's agent server: its version names the descriptors.
  const routerUrl = metadata?.kas?.externalUrl ?? undefined;
  const kasVersion = metadata?.kas?.version ?? undefined;
  const facts = { version, routerUrl, kasVersion, isUsable: false };
  if (version === undefined) return facts;
  const hasAccess = await lines.step(() => checkAccess(setup, lines));
  if (!isAtLeast(version, VERSION_MIN)) {
    const says = `GitLab ${version} has no runner controllers`;
    lines.add('version', 'wrong', says, 'upgrade it to 18.9 or newer');
    return facts;
  }
  const proof = signsHooks(version)
    ? 'signs its webhooks'
    : 'cannot sign webhooks: they carry a secret token';
  lines.add('version', 'right', `GitLab ${version} ${proof}`);
  await lines.step(() => checkLicence(setup, lines));
  await checkFlags(setup, lines);
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
  return { ...facts, isUsable: hasAccess === true };
}

export const signsHooks = (version = ''): boolean => isAtLeast(version, SIGNS_FROM);

/** Builds are called `19.4.1-jh`, `18.10.2-ee`, `19.3.0-pre`. */
function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}

async function checkAccess({ gitlab, mayChange, place }: Setup, lines: SetupLines): Promise<true> {
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
  const isSoon =
    expires_at != null && Date.parse(expires_at) - place.clock.nowMs() < EXPIRES_SOON_DAYS * DAY_MS;
  const expiry = expires_at == null ? 'does not expire' : `expires on ${expires_at} at 00:00 UTC`;
  lines.add('access', 'right', `${token} ${expiry}${isSoon ? ': soon' : ''}`);
  return true;
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
    return lines.add('licence', 'wrong', `the licence (${plan}) expired on ${expires_at}`, 'renew it');
  const until = `the licence is ${plan}, until ${expires_at ?? 'for ever'}`;
  if (plan !== 'ultimate') return lines.add('licence', 'wrong', until, remedy);
  lines.add('licence', 'right', until);
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
    else if (known.ok && definition === undefined && state === 'off')
      lines.add('flags', 'unknown', `${name} is no flag of this version: it is on, or not there yet`);
    else if (state === 'conditional')
      lines.add('flags', 'unknown', `${name} is on for some only (${what})`, remedy);
    else lines.add('flags', 'wrong', `${name} is off (${what})`, remedy);
  }
}
