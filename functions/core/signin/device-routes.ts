import { Hono } from 'hono';
import type { Log } from '../environment/index.ts';
import type { DeviceSignIn } from './device-sign-in.ts';
import { secretHashOf } from './secret-ids.ts';
import type { Sessions } from './sessions.ts';
import { SignInError } from './sign-in-error.ts';
import type { SignInEnv } from './user.ts';

interface DeviceRoutesDeps {
  /** Absent: no sign-in from terminals. */
  readonly device: DeviceSignIn | undefined;
  readonly sessions: Sessions;
  readonly log: Log;
}

const DEVICE_CODE = /^[\w.~-]{1,500}$/;

/**
 * `POST /signin/device` begins, `POST /signin/device/session` asks once with `{deviceCode}`: 202 until the person has
 * allowed it, then the session's id, which is sent as a bearer token.
 */
export function deviceRoutes({ device, sessions, log }: DeviceRoutesDeps): Hono<SignInEnv> {
  const routes = new Hono<SignInEnv>();
  routes.post('/signin/device', async (c) => c.json(await configured(device).begin()));
  routes.post('/signin/device/session', async (c) => {
    const body: { readonly deviceCode?: unknown } | null = await c.req.json().catch(() => null);
    const deviceCode = body?.deviceCode;
    if (typeof deviceCode !== 'string' || !DEVICE_CODE.test(deviceCode))
      throw new SignInError('sign_in_invalid', 'This is no code of a device.', 'Run tollgate login again.');
    const answer = await configured(device).ask(deviceCode);
    if ('wait' in answer) return c.json(answer, 202);
    const session = await sessions.open(answer.userId, undefined, { terminal: true });
    log.info('signed in from a terminal', { userId: answer.userId, session: secretHashOf(session) });
    return c.json({ session });
  });
  return routes;
}

function configured(device: DeviceSignIn | undefined): DeviceSignIn {
  if (device !== undefined) return device;
  throw new SignInError(
    'no_device_sign_in',
    'This console lets nobody sign in from a terminal.',
    'Whoever runs Tollgate registers an application for it and sets deviceClientId.',
  );
}
