/** Checks of the GitLab instance: version, token, licence, flags, settings and router. Changes nothing. */
import { BlockList, isIP } from 'node:net';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Setup, SetupLines } from './setup-step.ts';

/** Facts about the instance for later steps. Absent: GitLab did not say. */
export interface InstanceFacts {
  readonly version?: string;
  readonly routerUrl?: string;
  /** Version of GitLab's agent server: it names the descriptors. */
  readonly kasVersion?: string;
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
    const says = `GitLab ${version} has no runner controllers`;
    lines.add('version', 'wrong', says, 'upgrade GitLab to 18.9 or newer');
    return { isUsable: false, version };
  }
  const proof = signsHooks(version)
    ? 'signs its webhooks'
    : 'cannot sign webhooks: they carry a secret token';
  lines.add('version', 'right', `GitLab ${version} ${proof}`);
  await lines.step(() => checkLicence(setup, lines));
  await checkFlags(setup, lines);
  if (setup.hookUrl !== undefined) await checkSettings(setup.hookUrl, setup, lines);
  const [routerUrl, kasVersion] = [kas?.externalUrl ?? undefined, kas?.version ?? undefined];
  await lines.step(() => checkRouter(setup, lines, routerUrl, kasVersion));
  return {
    // The list of controllers shows whether token and licence suffice.
    isUsable: !lines.has('access', 'wrong'),
    version,
    ...(routerUrl !== undefined && { routerUrl }),
    ...(kasVersion !== undefined && { kasVersion }),
  };
}

/** Returns true if this GitLab can sign webhooks. */
export const signsHooks = (version: string | undefined): boolean =>
  version !== undefined && isAtLeast(version, SIGNS_FROM);

/** Builds are called `19.4.1-jh`, `18.10.2-ee`, `19.3.0-pre`. */
function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}

async function checkAccess({ gitlab, mode, nowMs }: Setup, lines: SetupLines): Promise<void> {
  const { scopes, active, expires_at } = lines.need('access', await gitlab.self());
  const token = "the administrator's token";
  const needed = mode === 'look' ? ['api', 'read_api'] : ['api'];
  if (!active) throw lines.stop('access', `${token} is not active`, 'make another one');
  if (!needed.some((scope) => scopes.includes(scope)))
    throw lines.stop(
      'access',
      `${token} has the scopes ${scopes.join(', ')}`,
      `make one with the scope ${needed.at(-1)}, and admin_mode where Admin Mode is on`,
    );
  if (expires_at == null) return lines.add('access', 'right', `${token} does not expire`);
  const isSoon = Math.floor((Date.parse(expires_at) - nowMs()) / DAY_MS) < EXPIRES_SOON_DAYS;
  const note = isSoon ? ': soon, and only this command needs it' : '';
  lines.add('access', 'right', `${token} expires on ${expires_at} at 00:00 UTC${note}`);
}

async function checkLicence({ gitlab }: Setup, lines: SetupLines): Promise<void> {
  const answer = await gitlab.licence();
  if (!answer.ok && answer.refusal.code === 'unreadable')
    return lines.add('licence', 'unknown', 'GitLab does not say which licence it has');
  const licence = lines.need('licence', answer);
  const ultimate = 'runner controllers need Ultimate';
  if (licence == null) throw lines.stop('licence', 'GitLab has no licence', ultimate);
  const { plan, expired, expires_at } = licence;
  if (expired === true)
    throw lines.stop('licence', `the licence (${plan}) expired on ${expires_at}`, 'renew it');
  if (plan !== 'ultimate') throw lines.stop('licence', `the licence is ${plan}`, ultimate);
  lines.add('licence', 'right', `the licence is ultimate, until ${expires_at ?? 'for ever'}`);
}

async function checkFlags({ gitlab }: Setup, lines: SetupLines): Promise<void> {
  const [set, known] = [await gitlab.flags(), await gitlab.flagDefinitions()];
  if (!set.ok) return lines.add('flags', 'unknown', set.refusal.says, set.refusal.remedy);
  for (const [name, what] of Object.entries(FLAGS)) {
    const state = set.value.find((flag) => flag.name === name)?.state;
    const definition = known.ok ? known.value.find((flag) => flag.name === name) : undefined;
    const remedy = `as an administrator: POST /api/v4/features/${name} with value=true`;
    if (state === 'on') lines.add('flags', 'right', `${name} is on`);
    else if (state === 'conditional')
      lines.add('flags', 'unknown', `${name} is on for some only (${what})`, remedy);
    else if (known.ok && definition === undefined)
      lines.add('flags', 'unknown', `${name} is no flag of this version: it is on, or not there yet`);
    else if (state === undefined && definition?.default_enabled === true)
      lines.add('flags', 'right', `${name} is on by default`);
    else lines.add('flags', 'wrong', `${name} is off (${what})`, remedy);
  }
}

async function checkRouter(
  { gitlab, runnerToken }: Setup,
  lines: SetupLines,
  url: string | undefined,
  kasVersion: string | undefined,
): Promise<void> {
  if (url === undefined)
    throw lines.stop(
      'router',
      'GitLab Relay (KAS), which has the job router, is off',
      "switch it on in GitLab's configuration: gitlab_kas['enable'] = true",
    );
  if (runnerToken !== undefined) {
    const { server_url } = lines.need('router', await gitlab.discovery(runnerToken));
    lines.add('router', 'right', `runners are sent to ${server_url}`);
  } else if (kasVersion === undefined)
    lines.add('router', 'unknown', `the router is at ${url}, and GitLab cannot reach it`, 'is KAS up?');
  else lines.add('router', 'right', `the router is at ${url} (KAS ${kasVersion})`);
}

/** Addresses of the local network. GitLab sends webhooks there only if an administrator allows it. */
const LOCAL = new BlockList();
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  LOCAL.addSubnet(net, prefix, 'ipv4');
LOCAL.addAddress('::1', 'ipv6');
LOCAL.addSubnet('fc00::', 7, 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');

/**
 * Checks the settings of the instance that keep webhooks from arriving. It does not recognise a name that only
 * GitLab's resolver knows to be local; the test of the webhook finds that.
 *
 * @see https://docs.gitlab.com/api/settings/
 * @see https://docs.gitlab.com/administration/silent_mode/
 */
async function checkSettings(hookUrl: string, { gitlab }: Setup, lines: SetupLines): Promise<void> {
  const answer = await gitlab.settings();
  if (!answer.ok) return lines.add('settings', 'unknown', answer.refusal.says, answer.refusal.remedy);
  const settings = answer.value;
  const put = (setting: string) => `as an administrator: PUT /api/v4/application/settings with ${setting}`;
  const host = new URL(hookUrl).hostname.replace(/^\[|\]$/g, '');
  const isAllowed = settings.allow_local_requests_from_web_hooks_and_services !== false;
  // An entry may be a name, an address, a range or a name with a port: any list is assumed to contain the host.
  const hasList = (settings.outbound_local_requests_whitelist ?? []).length > 0;
  if (settings.silent_mode_enabled === true)
    lines.add(
      'settings',
      'wrong',
      'GitLab is in Silent Mode, in which it sends no webhooks',
      put('silent_mode_enabled=false'),
    );
  else if (isLocal(host) && !isAllowed && !hasList)
    lines.add(
      'settings',
      'wrong',
      `GitLab may not send webhooks into the local network, where ${host} is`,
      put('allow_local_requests_from_web_hooks_and_services=true'),
    );
  else lines.add('settings', 'right', 'no setting of the instance keeps webhooks back');
}

function isLocal(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  const version = isIP(host);
  return version !== 0 && LOCAL.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
