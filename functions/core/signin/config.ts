import { BlockList, isIP } from 'node:net';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import * as names from '../../names.ts';
import {
  choiceIn,
  type Environment,
  groupIdIn,
  optional,
  readSettings,
  required,
} from '../environment/settings.ts';

export const CALLBACK_PATH = '/signin/callback';

const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

/** A sign-in over plain http shows its cookies to the network. */
function isOwnAddress(redirectUrl: string): boolean {
  if (!URL.canParse(redirectUrl)) return false;
  const url = new URL(redirectUrl);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return isPlain && url.pathname === CALLBACK_PATH && isSafeUrl(url);
}

export function ownAddress(redirectUrl: string) {
  if (!isOwnAddress(redirectUrl))
    throw new Error(
      `the sign-in's redirect URL is not usable; expected one like https://budget.example.com${CALLBACK_PATH}`,
    );
  const { origin, protocol } = new URL(redirectUrl);
  return { origin, secure: protocol === 'https:' };
}

export const isSafeUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));

interface Arrival {
  /** The connection's address, which cannot be forged: Lambda's `sourceIp`. */
  readonly connection: string;
  /** `X-Forwarded-For`: each proxy adds the address it was called from at the right. */
  readonly forwardedFor: string | undefined;
}

const HOPS_MAX = 10;

/** Behind our proxies, the first address from the right that is not one: the visitor may have written those left of it. */
export function visitorAddress(proxies: readonly string[]): (arrival: Arrival) => string {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = addressFamily(address);
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isProxy = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, addressFamily(address));
  return ({ connection, forwardedFor = '' }) => {
    if (!isProxy(connection)) return connection;
    const hops = forwardedFor.split(',').map((hop) => hop.trim());
    const visitor = hops.slice(-HOPS_MAX).findLast((hop) => !isProxy(hop));
    // An invalid hop was forged: such requests share the proxy's count.
    return visitor !== undefined && isIP(visitor) !== 0 ? visitor : connection;
  };
}

export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

const addressFamily = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const SIGN_IN = {
  /** Also the issuer of the ID tokens: GitLab names itself by its address. */
  gitlabUrl: required(names.ENV_GITLAB_URL),
  gitlabTokenParameter: required(names.ENV_GITLAB_TOKEN_PARAMETER),
  consoleUrl: required(names.ENV_CONSOLE_URL),
  clientId: required(names.ENV_SIGNIN_CLIENT_ID),
  deviceClientId: optional(names.ENV_SIGNIN_DEVICE_CLIENT_ID),
  clientSecretParameter: required(names.ENV_SIGNIN_SECRET_PARAMETER),
};
const ROLES = {
  adminGroupId: groupIdIn(names.ENV_ADMIN_GROUP_ID),
  financeGroupId: groupIdIn(names.ENV_FINANCE_GROUP_ID),
  ownersFrom: choiceIn(names.ENV_OWNERS_FROM, ['maintainer', 'owner']),
  viewersFrom: choiceIn(names.ENV_VIEWERS_FROM, ['guest', 'reporter', 'developer']),
};

/** Adds to `problems`, each with its setting and the correction; with any, the settings are not usable. */
export function readSignInConfig(env: Environment, problems: string[]) {
  const { consoleUrl, ...settings } = readSettings(SIGN_IN, env, problems);
  const redirectUrl = `${consoleUrl.replace(/\/$/, '')}${CALLBACK_PATH}`;
  if (consoleUrl !== '' && !isOwnAddress(redirectUrl))
    problems.push(`${names.ENV_CONSOLE_URL} is not usable; expected one like https://budget.example.com`);
  return { ...settings, redirectUrl, roles: withoutAbsent(readSettings(ROLES, env, problems)) };
}
