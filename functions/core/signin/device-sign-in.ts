/** OAuth's device authorization grant (RFC 8628) with GitLab, for people in a terminal. */
import {
  allowInsecureRequests,
  Configuration,
  customFetch,
  fetchUserInfo,
  genericGrantRequest,
  initiateDeviceAuthorization,
  None,
  ResponseBodyError,
  skipSubjectCheck,
} from 'openid-client';
import { SignInError } from './sign-in-error.ts';

interface DeviceSignInDeps {
  readonly issuer: string;
  /** Id of an application of its own, which is not confidential and has the scope `openid`. */
  readonly clientId: string;
  readonly fetch: typeof fetch;
}

/** Codes for the user to approve, and for the terminal to poll. */
interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

/** GitLab's id of the user, or that they have not answered yet. */
type DeviceAnswer = { readonly userId: number } | { readonly wait: 'authorization_pending' | 'slow_down' };

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SCOPE = 'openid';
const TIMEOUT_SECONDS = 5;
const INTERVAL_SECONDS = 5;

export class DeviceSignIn {
  readonly #deps: DeviceSignInDeps;

  constructor(deps: DeviceSignInDeps) {
    this.#deps = deps;
  }

  /** @throws {SignInError} `gitlab_unavailable` */
  async begin(): Promise<DeviceCode> {
    const configuration = this.#configuration();
    const begun = await initiateDeviceAuthorization(configuration, { scope: SCOPE }).catch(refuse);
    return {
      deviceCode: begun.device_code,
      userCode: begun.user_code,
      verificationUri: begun.verification_uri_complete ?? begun.verification_uri,
      expiresInSeconds: begun.expires_in,
      intervalSeconds: begun.interval ?? INTERVAL_SECONDS,
    };
  }

  /**
   * Asks once. The code is good for our application only, so the user it leads to allowed Tollgate and nothing else. The token
   * is dropped here.
   * @throws {SignInError} `sign_in_expired`, `sign_in_denied`, `sign_in_invalid`, `gitlab_unavailable`
   */
  async ask(deviceCode: string): Promise<DeviceAnswer> {
    const configuration = this.#configuration();
    try {
      const tokens = await genericGrantRequest(configuration, GRANT, { device_code: deviceCode });
      const { sub } = await fetchUserInfo(configuration, tokens.access_token, skipSubjectCheck);
      if (/^[1-9]\d{0,14}$/.test(sub)) return { userId: Number(sub) };
    } catch (error) {
      const code = error instanceof ResponseBodyError ? error.error : undefined;
      if (code === 'authorization_pending' || code === 'slow_down') return { wait: code };
      return refuse(error);
    }
    throw new SignInError(
      'sign_in_invalid',
      'GitLab named you by something that is not the id of a user.',
      'Tell whoever runs Tollgate.',
    );
  }

  /** GitLab does not promise to list its address for devices, and the others are always where they are here. */
  #configuration(): Configuration {
    const { issuer, clientId, fetch } = this.#deps;
    const at = (path: string): string => String(new URL(path, issuer));
    const server = {
      issuer,
      token_endpoint: at('/oauth/token'),
      userinfo_endpoint: at('/oauth/userinfo'),
      device_authorization_endpoint: at('/oauth/authorize_device'),
    };
    const configuration = new Configuration(server, clientId, undefined, None());
    configuration[customFetch] = (url, options) => fetch(url, options as RequestInit);
    configuration.timeout = TIMEOUT_SECONDS;
    if (new URL(issuer).protocol === 'http:') allowInsecureRequests(configuration);
    return configuration;
  }
}

/** The library's errors can quote what GitLab sent; only what a person can act on is taken over. */
function refuse(error: unknown): never {
  const code = error instanceof ResponseBodyError ? error.error : undefined;
  if (code === 'expired_token' || code === 'invalid_grant')
    throw new SignInError(
      'sign_in_expired',
      'GitLab no longer knows this code.',
      'Run tollgate login again.',
    );
  if (code === 'access_denied')
    throw new SignInError(
      'sign_in_denied',
      'The sign-in was declined in GitLab.',
      'Run tollgate login again.',
    );
  throw new SignInError(
    'gitlab_unavailable',
    'Tollgate and GitLab could not agree on a sign-in from a terminal.',
    'Try again in a minute; if that does not help, whoever runs Tollgate checks the application for terminals in GitLab.',
  );
}
