/** Sign-in from a terminal, as GitLab has it: discovery does not list the address, and the answer has no ID token. */
import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { errors, type Provider } from 'oidc-provider';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const EXPIRES_IN_SECONDS = 300;
const INTERVAL_SECONDS = 5;

interface Device {
  readonly code: string;
  readonly userCode: string;
  readonly begunAtMs: number;
  askedAtMs: number;
  intervalMs: number;
  /** The id of the user who allowed it. */
  answer?: number | 'decline';
}

interface DeviceGrantParts {
  readonly provider: Provider;
  readonly url: string;
  readonly users: ReadonlyMap<number, { readonly id: number; readonly username: string }>;
  readonly nowMs: () => number;
}

const refused = (code: string): Error => new errors.CustomOIDCProviderError(code, code);

export const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><title>GitLab</title><h1>${title}</h1>${body}`;

/** Adds the device grant to the provider, and its pages to the app. */
export function deviceGrant(app: Hono, { provider, url, users, nowMs }: DeviceGrantParts): void {
  const devices = new Map<string, Device>();

  app.post('/oauth/authorize_device', (c) => {
    const code = randomBytes(24).toString('base64url');
    const userCode = randomBytes(4).toString('hex').toUpperCase();
    const waiting = { askedAtMs: Number.NEGATIVE_INFINITY, intervalMs: INTERVAL_SECONDS * 1_000 };
    devices.set(code, { code, userCode, begunAtMs: nowMs(), ...waiting });
    return c.json({
      ...{ device_code: code, user_code: userCode, verification_uri: `${url}/oauth/device` },
      verification_uri_complete: `${url}/oauth/device?user_code=${userCode}`,
      ...{ expires_in: EXPIRES_IN_SECONDS, interval: INTERVAL_SECONDS },
    });
  });
  app.get('/oauth/device', (c) => {
    const code = /^[0-9A-F]{8}$/.exec(c.req.query('user_code') ?? '')?.[0] ?? '';
    const choices = [...users.values()].map(({ id, username }) => [String(id), username] as const);
    const links = [...choices, ['decline', 'Decline'] as const].map(
      ([path, text]) => `<li><a href="/oauth/device/${path}?user_code=${code}">${text}</a></li>`,
    );
    return c.html(page(`Allow the terminal with the code ${code} as`, `<ul>${links.join('')}</ul>`));
  });
  app.get('/oauth/device/:chosen', (c) => {
    const user = users.get(Number(c.req.param('chosen')));
    const code = c.req.query('user_code');
    for (const device of devices.values())
      if (device.userCode === code) device.answer = user?.id ?? 'decline';
    const title = user === undefined ? 'Declined' : `Allowed as ${user.username}`;
    return c.html(page(title, 'Go back to the terminal.'));
  });

  /** Returns the user who allowed the device, once. @throws {Error} of the grant */
  const redeem = (code: string): number => {
    const device = devices.get(code);
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
    devices.delete(code);
    if (device.answer === 'decline') throw refused('access_denied');
    return device.answer;
  };
  const grantTokens: Parameters<Provider['registerGrantType']>[1] = async (c) => {
    const { client, params } = c.oidc;
    if (client === undefined) throw refused('invalid_client');
    const accountId = String(redeem(String(params?.device_code)));
    const grant = new provider.Grant({ accountId, clientId: client.clientId });
    grant.addOIDCScope('openid');
    const about = { accountId, client, grantId: await grant.save(), scope: 'openid', gty: 'device_code' };
    const token = new provider.AccessToken(about as ConstructorParameters<Provider['AccessToken']>[0]);
    c.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: 7_200, scope: 'openid' };
  };
  provider.registerGrantType(DEVICE_GRANT, grantTokens, 'device_code');
}
