/** Signing in from a terminal, as GitLab answers it: its discovery does not list the address, and its answer has no ID token. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { errors, type Provider } from 'oidc-provider';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const EXPIRES_IN_SECONDS = 300;
const INTERVAL_SECONDS = 5;

/** Codes of devices, and what people said to them. */
export interface DeviceBook {
  begin(): { readonly deviceCode: string; readonly userCode: string };
  /** The person types the code, and allows it as this user or declines. */
  answer(userCode: string, as: number | 'decline'): void;
  /** Who allowed it, once. @throws {Error} of the grant */
  redeem(deviceCode: string): number;
}

interface Device {
  readonly userCode: string;
  readonly begunAtMs: number;
  askedAtMs: number;
  intervalMs: number;
  answer?: number | 'decline';
}

const refused = (code: string): Error => new errors.CustomOIDCProviderError(code, code);

export function deviceBook(nowMs: () => number): DeviceBook {
  const devices = new Map<string, Device>();
  return {
    begin() {
      const deviceCode = randomBytes(24).toString('base64url');
      const userCode = randomBytes(4).toString('hex').toUpperCase();
      const at = { begunAtMs: nowMs(), askedAtMs: Number.NEGATIVE_INFINITY };
      devices.set(deviceCode, { userCode, ...at, intervalMs: INTERVAL_SECONDS * 1_000 });
      return { deviceCode, userCode };
    },
    answer(userCode, as) {
      for (const device of devices.values()) if (device.userCode === userCode) device.answer = as;
    },
    redeem(deviceCode) {
      const device = devices.get(deviceCode);
      if (device === undefined) throw refused('invalid_grant');
      const atMs = nowMs();
      if (atMs - device.begunAtMs >= EXPIRES_IN_SECONDS * 1_000) throw refused('expired_token');
      const isEarly = atMs - device.askedAtMs < device.intervalMs;
      device.askedAtMs = atMs;
      if (isEarly) {
        device.intervalMs += INTERVAL_SECONDS * 1_000;
        throw refused('slow_down');
      }
      if (device.answer === undefined) throw refused('authorization_pending');
      devices.delete(deviceCode);
      if (device.answer === 'decline') throw refused('access_denied');
      return device.answer;
    },
  };
}

/** `POST /oauth/authorize_device` */
export function answerDevice(response: ServerResponse, url: string, devices: DeviceBook): void {
  const { deviceCode, userCode } = devices.begin();
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${url}/oauth/device`,
      verification_uri_complete: `${url}/oauth/device?user_code=${userCode}`,
      expires_in: EXPIRES_IN_SECONDS,
      interval: INTERVAL_SECONDS,
    }),
  );
}

/** `/oauth/device?user_code=…`: whoever follows a link allows the terminal as that user, or declines it. */
export function showDevicePage(
  response: ServerResponse,
  { pathname, searchParams }: URL,
  users: ReadonlyMap<number, { readonly id: number; readonly username: string }>,
  devices: DeviceBook,
): void {
  const code = /^[0-9A-F]{8}$/.exec(searchParams.get('user_code') ?? '')?.[0] ?? '';
  const [, , , chosen] = pathname.split('/');
  response.setHeader('content-type', 'text/html; charset=utf-8');
  if (chosen !== undefined) {
    const user = users.get(Number(chosen));
    devices.answer(code, user?.id ?? 'decline');
    response.end(
      page(user === undefined ? 'Declined' : `Allowed as ${user.username}`, 'Go back to the terminal.'),
    );
    return;
  }
  const choices = [...users.values()].map(({ id, username }) => ({ href: String(id), text: username }));
  const links = [...choices, { href: 'decline', text: 'Decline' }].map(
    ({ href, text }) => `<li><a href="/oauth/device/${href}?user_code=${code}">${text}</a></li>`,
  );
  response.end(page(`Allow the terminal with the code ${code} as`, `<ul>${links.join('')}</ul>`));
}

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><title>GitLab</title><h1>${title}</h1>${body}`;

export function serveDeviceGrant(provider: Provider, devices: DeviceBook): void {
  const answer: Parameters<Provider['registerGrantType']>[1] = async (c) => {
    const { client, params } = c.oidc;
    if (client === undefined) throw refused('invalid_client');
    const accountId = String(devices.redeem(String(params?.device_code)));
    const grant = new provider.Grant({ accountId, clientId: client.clientId });
    grant.addOIDCScope('openid');
    const grantId = await grant.save();
    const scope = 'openid';
    const about = { accountId, client, grantId, scope, gty: 'device_code' };
    const token = new provider.AccessToken(about as ConstructorParameters<Provider['AccessToken']>[0]);
    c.body = {
      access_token: await token.save(),
      token_type: 'Bearer',
      expires_in: 7_200,
      scope,
    };
  };
  provider.registerGrantType(DEVICE_GRANT, answer, 'device_code');
}
