import { settingsLine } from './settings-line.ts';
import { refused, type SetupCourse, type SetupLine } from './setup-line.ts';

/** Facts about the instance for later steps. */
interface InstanceReading {
  readonly lines: readonly SetupLine[];
  readonly mayGoOn: boolean;
  readonly version: string | undefined;
  readonly routerUrl: string | undefined;
  readonly kasVersion: string | undefined;
  /** True if webhooks can be signed. */
  readonly signs: boolean;
}

/** Runner controllers came with it. */
const VERSION_MIN = [18, 9] as const;
const SIGNS_FROM = [19, 0] as const;
const DAY_MS = 86_400_000;
const EXPIRES_SOON_DAYS = 14;
const FLAGS: Readonly<Record<string, string>> = {
  job_router: 'jobs of runners of groups and projects',
  job_router_instance_runners: 'jobs of runners of the instance',
  job_router_admission_control: 'that the router asks at all',
};

/** The token, the version, the licence, the flags, what keeps webhooks back, and where the router is. Changes nothing in any mode. */
export async function instanceStep(course: SetupCourse): Promise<InstanceReading> {
  const { gitlab } = course;
  const nothing = {
    mayGoOn: false,
    version: undefined,
    routerUrl: undefined,
    kasVersion: undefined,
    signs: false,
  };
  const metadata = await gitlab.metadata();
  if (!metadata.ok) return { ...nothing, lines: [refused('version', metadata.refusal)] };
  const { version, kas } = metadata.value;
  const lines: SetupLine[] = [await accessLine(course)];
  if (!isAtLeast(version, VERSION_MIN)) {
    const says = `GitLab ${version} has no runner controllers`;
    lines.push({ part: 'version', standing: 'wrong', says, remedy: 'upgrade GitLab to 18.9 or newer' });
    return { ...nothing, version, lines };
  }
  const signs = signsHooks(version);
  const proof = signs ? 'signs its webhooks' : 'cannot sign webhooks: they carry a secret token';
  lines.push({ part: 'version', standing: 'right', says: `GitLab ${version} ${proof}` });
  lines.push(await licenceLine(course));
  lines.push(...(await flagLines(course)));
  if (course.hooks.url !== undefined) lines.push(await settingsLine(course));
  const routerUrl = kas?.externalUrl ?? undefined;
  lines.push(await routerLine(course, routerUrl, kas?.version ?? undefined));
  // The list of controllers is where the right of the token and the licence really show.
  const mayGoOn = !lines.some(({ part, standing }) => part === 'access' && standing === 'wrong');
  return { lines, mayGoOn, version, routerUrl, kasVersion: kas?.version ?? undefined, signs };
}

/** Returns true if this GitLab can sign webhooks. */
export const signsHooks = (version: string): boolean => isAtLeast(version, SIGNS_FROM);

/** Builds are called `19.4.1-jh`, `18.10.2-ee`, `19.3.0-pre`. */
function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}

async function accessLine({ gitlab, mode, nowMs }: SetupCourse): Promise<SetupLine> {
  const answer = await gitlab.self();
  if (!answer.ok) return refused('access', answer.refusal);
  const { scopes, active, expires_at } = answer.value;
  const part = 'access';
  const needed = mode === 'look' ? ['api', 'read_api'] : ['api'];
  if (!active)
    return {
      part,
      standing: 'wrong',
      says: "the administrator's token is not active",
      remedy: 'make another one',
    };
  if (!needed.some((scope) => scopes.includes(scope)))
    return {
      part,
      standing: 'wrong',
      says: `the administrator's token has the scopes ${scopes.join(', ')}`,
      remedy: `make one with the scope ${needed.at(-1)}, and admin_mode where Admin Mode is on`,
    };
  const leftDays = expires_at == null ? undefined : Math.floor((Date.parse(expires_at) - nowMs()) / DAY_MS);
  const until = expires_at == null ? 'does not expire' : `expires on ${expires_at} at 00:00 UTC`;
  return leftDays !== undefined && leftDays < EXPIRES_SOON_DAYS
    ? {
        part,
        standing: 'right',
        says: `the administrator's token ${until}: soon, and only this command needs it`,
      }
    : { part, standing: 'right', says: `the administrator's token ${until}` };
}

async function licenceLine({ gitlab }: SetupCourse): Promise<SetupLine> {
  const part = 'licence';
  const answer = await gitlab.licence();
  if (!answer.ok && answer.refusal.code === 'unreadable')
    return { part, standing: 'unknown', says: 'GitLab does not say which licence it has' };
  if (!answer.ok) return refused(part, answer.refusal);
  const { value } = answer;
  if (value == null)
    return {
      part,
      standing: 'wrong',
      says: 'GitLab has no licence',
      remedy: 'runner controllers need Ultimate',
    };
  const { plan, expired, expires_at } = value;
  if (expired === true)
    return {
      part,
      standing: 'wrong',
      says: `the licence (${plan}) expired on ${expires_at}`,
      remedy: 'renew it',
    };
  if (plan !== 'ultimate')
    return {
      part,
      standing: 'wrong',
      says: `the licence is ${plan}`,
      remedy: 'runner controllers need Ultimate',
    };
  return { part, standing: 'right', says: `the licence is ultimate, until ${expires_at ?? 'for ever'}` };
}

async function flagLines({ gitlab }: SetupCourse): Promise<readonly SetupLine[]> {
  const part = 'flags';
  const [set, known] = [await gitlab.flags(), await gitlab.flagDefinitions()];
  if (!set.ok) return [{ part, standing: 'unknown', says: set.refusal.says, remedy: set.refusal.remedy }];
  const lines = Object.entries(FLAGS).map(([name, what]): SetupLine => {
    const state = set.value.find((flag) => flag.name === name)?.state;
    const definition = known.ok ? known.value.find((flag) => flag.name === name) : undefined;
    const remedy = `as an administrator: POST /api/v4/features/${name} with value=true`;
    if (state === 'on') return { part, standing: 'right', says: `${name} is on` };
    if (state === 'conditional')
      return { part, standing: 'unknown', says: `${name} is on for some only (${what})`, remedy };
    if (known.ok && definition === undefined)
      return {
        part,
        standing: 'unknown',
        says: `${name} is no flag of this version: it is on, or not there yet`,
      };
    if (state === undefined && definition?.default_enabled === true)
      return { part, standing: 'right', says: `${name} is on by default` };
    return { part, standing: 'wrong', says: `${name} is off (${what})`, remedy };
  });
  return lines;
}

async function routerLine(
  { gitlab, runnerToken }: SetupCourse,
  url: string | undefined,
  kasVersion: string | undefined,
): Promise<SetupLine> {
  const part = 'router';
  if (url === undefined)
    return {
      part,
      standing: 'wrong',
      says: 'GitLab Relay (KAS), which has the job router, is off',
      remedy: "switch it on in GitLab's configuration: gitlab_kas['enable'] = true",
    };
  if (runnerToken !== undefined) {
    const answer = await gitlab.discovery(runnerToken);
    if (!answer.ok) return refused(part, answer.refusal);
    return { part, standing: 'right', says: `runners are sent to ${answer.value.server_url}` };
  }
  return kasVersion === undefined
    ? {
        part,
        standing: 'unknown',
        says: `the router is at ${url}, and GitLab cannot reach it`,
        remedy: 'is KAS up?',
      }
    : { part, standing: 'right', says: `the router is at ${url} (KAS ${kasVersion})` };
}
