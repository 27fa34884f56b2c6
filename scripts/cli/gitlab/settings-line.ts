import { BlockList, isIP } from 'node:net';
import type { SetupCourse, SetupLine } from './setup-line.ts';

/** Addresses of the local network, which GitLab sends webhooks to only where an administrator allows it. */
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

const part = 'settings';

/**
 * The settings of the instance that keep webhooks from arriving. A name that only GitLab's own resolver knows to be local is
 * not recognised; the test of the webhook finds that out.
 *
 * @see https://docs.gitlab.com/api/settings/
 * @see https://docs.gitlab.com/administration/silent_mode/
 */
export async function settingsLine({ gitlab, hooks }: SetupCourse): Promise<SetupLine> {
  const answer = await gitlab.settings();
  if (!answer.ok)
    return { part, standing: 'unknown', says: answer.refusal.says, remedy: answer.refusal.remedy };
  const settings = answer.value;
  if (settings.silent_mode_enabled === true)
    return {
      part,
      standing: 'wrong',
      says: 'GitLab is in Silent Mode, in which it sends no webhooks',
      remedy: 'as an administrator: PUT /api/v4/application/settings with silent_mode_enabled=false',
    };
  const host = hooks.url === undefined ? undefined : new URL(hooks.url).hostname.replace(/^\[|\]$/g, '');
  const isAllowed = settings.allow_local_requests_from_web_hooks_and_services !== false;
  // An entry of the list may be a name, an address, a range or a name with a port: any list is given the benefit of the doubt.
  const listed = settings.outbound_local_requests_whitelist ?? [];
  if (host !== undefined && isLocal(host) && !isAllowed && listed.length === 0)
    return {
      part,
      standing: 'wrong',
      says: `GitLab may not send webhooks into the local network, where ${host} is`,
      remedy:
        'as an administrator: PUT /api/v4/application/settings with allow_local_requests_from_web_hooks_and_services=true',
    };
  return { part, standing: 'right', says: 'no setting of the instance keeps webhooks back' };
}

function isLocal(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  const version = isIP(host);
  return version !== 0 && LOCAL.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
