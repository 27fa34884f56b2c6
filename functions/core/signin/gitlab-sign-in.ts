/** OpenID Connect with GitLab: the authorization code flow with PKCE, state and nonce; and the device grant for terminals. */
import { createHash } from 'node:crypto';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  ClientSecretPost,
  Configuration,
  clockSkew,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  genericGrantRequest,
  initiateDeviceAuthorization,
  None,
  ResponseBodyError,
  skipSubjectCheck,
} from 'openid-client';
import { isSafeUrl } from './config.ts';
import { SignInError } from './model.ts';

export interface GitLabSignInDeps {
  readonly issuer: string;
  /** Id of the application registered in GitLab, confidential, scope `openid`, with `redirectUrl`. */
  readonly clientId: string;
  /** Asked for again every few minutes, so that a new secret needs no restart. */
  readonly clientSecret: () => Promise<string>;
  /** `https://budget.example.com/signin/callback`; plain http only on the own machine. */
  readonly redirectUrl: string;
  readonly fetch: typeof fetch;
  readonly clock: { nowMs(): number };
}

interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Says who the user is, and nothing else; what they may do is asked with Tollgate's own token. */
const SCOPE = 'openid';
const TOLERANCE_SECONDS = 60;
const TIMEOUT_SECONDS = 5;
const FRESH_MS = 5 * 60_000;

const isPlain = (issuer: string): boolean => new URL(issuer).protocol === 'http:';

function parseUserId(subject = ''): number {
  if (/^[1-9]\d{0,14}$/.test(subject)) return Number(subject);
  throw invalid('GitLab named you by something that is not the id of a user', 'subject');
}

export function gitlabSignIn(deps: GitLabSignInDeps) {
  const { issuer, clientId, clientSecret, redirectUrl, fetch, clock } = deps;
  if (!URL.canParse(issuer) || !isSafeUrl(new URL(issuer)))
    throw new Error(`the issuer "${issuer}" is not usable; expected one like https://gitlab.example.com`);
  let known: { readonly configuration: Promise<Configuration>; readonly untilMs: number } | undefined;

  const discover = async (): Promise<Configuration> => {
    const metadata = {
      // The library asks the machine for the time; what counts is the clock we were given.
      [clockSkew]: Math.round((clock.nowMs() - Date.now()) / 1_000),
      [clockTolerance]: TOLERANCE_SECONDS,
    };
    return await discovery(new URL(issuer), clientId, metadata, ClientSecretPost(await clientSecret()), {
      [customFetch]: (url, options) => fetch(url, options as RequestInit),
      timeout: TIMEOUT_SECONDS,
      // The ID token's signature counts, too, though it comes straight from GitLab.
      execute: [enableNonRepudiationChecks, ...(isPlain(issuer) ? [allowInsecureRequests] : [])],
    });
  };

  const configured = (): Promise<Configuration> => {
    const nowMs = clock.nowMs();
    if (known !== undefined && nowMs < known.untilMs) return known.configuration;
    const configuration = discover().catch((error: unknown) => {
      known = undefined;
      throw unavailable(error instanceof Error ? error.name : typeof error);
    });
    known = { configuration, untilMs: nowMs + FRESH_MS };
    return configuration;
  };

  return {
    begin: async ({ state, nonce, codeVerifier }: SignInChecks): Promise<URL> =>
      buildAuthorizationUrl(await configured(), {
        ...{ redirect_uri: redirectUrl, scope: SCOPE, state, nonce, code_challenge_method: 'S256' },
        code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      }),

    /** GitLab's id of the user. @throws {SignInError} `sign_in_denied`, `sign_in_invalid`, `gitlab_unavailable` */
    async finish(answer: URLSearchParams, { state, nonce, codeVerifier }: SignInChecks): Promise<number> {
      const configuration = await configured();
      const url = new URL(redirectUrl);
      url.search = String(answer);
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
      const tokens = await authorizationCodeGrant(configuration, url, checks).catch((error: unknown) => {
        throw toSignInError(error);
      });
      return parseUserId(tokens.claims()?.sub);
    },
  };
}

const NO_ANSWER = /^OAUTH_(TIMEOUT|ABORT|RESPONSE_IS_NOT_(CONFORM|JSON))$/;

/** The library's errors can quote what GitLab sent; only their codes are taken over. */
function toSignInError(error: unknown): SignInError {
  if (error instanceof AuthorizationResponseError)
    return new SignInError(
      'sign_in_denied',
      `GitLab did not let you sign in (${codeText(error.error)}).`,
      'Sign in again and allow the application. If GitLab never asked, contact the Tollgate team.',
    );
  if (error instanceof ResponseBodyError) {
    const isOurs = error.error === 'invalid_client' || error.error === 'unauthorized_client';
    return isOurs ? unavailable(error.error) : invalid('GitLab does not accept its code', error.error);
  }
  const { code = 'unknown' } = error instanceof ClientError ? error : { code: 'no answer' };
  return error instanceof ClientError && !NO_ANSWER.test(code)
    ? invalid('The answer of GitLab does not belong to this sign-in', code)
    : unavailable(code);
}

const invalid = (what: string, code: string): SignInError =>
  new SignInError('sign_in_invalid', `${what} (${codeText(code)}).`, 'Sign in again.');

const unavailable = (code: string): SignInError =>
  new SignInError(
    'gitlab_unavailable',
    `Tollgate and GitLab could not agree on a sign-in (${codeText(code)}).`,
    'Try again in a minute. If that does not help, the Tollgate team must check its address, id and secret in GitLab.',
  );

/** The browser's text is untrusted. */
const codeText = (code: string): string => (/^[\w ]{1,40}$/.test(code) ? code : 'unknown');

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** OAuth's device authorization grant (RFC 8628) with GitLab, for people in a terminal. */
export function deviceSignIn(deps: Pick<GitLabSignInDeps, 'issuer' | 'clientId' | 'fetch'>) {
  const { issuer, clientId, fetch } = deps;
  const at = (path: string): string => String(new URL(path, issuer));
  // GitLab does not promise to list its address for devices, and the others are always where they are here.
  const server = {
    issuer,
    token_endpoint: at('/oauth/token'),
    userinfo_endpoint: at('/oauth/userinfo'),
    device_authorization_endpoint: at('/oauth/authorize_device'),
  };
  const configuration = new Configuration(server, clientId, undefined, None());
  configuration[customFetch] = (url, options) => fetch(url, options as RequestInit);
  configuration.timeout = TIMEOUT_SECONDS;
  if (isPlain(issuer)) allowInsecureRequests(configuration);
  return {
    /** Codes for the user to approve, and for the terminal to poll. @throws {SignInError} `gitlab_unavailable` */
    async begin() {
      const begun = await initiateDeviceAuthorization(configuration, { scope: SCOPE }).catch(refuse);
      return {
        deviceCode: begun.device_code,
        userCode: begun.user_code,
        verificationUri: begun.verification_uri_complete ?? begun.verification_uri,
        expiresInSeconds: begun.expires_in,
        intervalSeconds: begun.interval ?? 5,
      };
    },

    /** Asks once. The code is good for our application only, so the user it leads to allowed Tollgate. @throws {SignInError} */
    async ask(deviceCode: string) {
      let subject: string;
      try {
        const tokens = await genericGrantRequest(configuration, GRANT, { device_code: deviceCode });
        subject = (await fetchUserInfo(configuration, tokens.access_token, skipSubjectCheck)).sub;
      } catch (error) {
        const code = error instanceof ResponseBodyError ? error.error : undefined;
        if (code === 'authorization_pending' || code === 'slow_down') return { wait: code } as const;
        return refuse(error);
      }
      return { userId: parseUserId(subject) };
    },
  };
}

function refuse(error: unknown): never {
  const code = error instanceof ResponseBodyError ? error.error : undefined;
  const again = 'Run tollgate login again.';
  if (code === 'expired_token' || code === 'invalid_grant')
    throw new SignInError('sign_in_expired', 'GitLab no longer knows this code.', again);
  if (code === 'access_denied')
    throw new SignInError('sign_in_denied', 'The sign-in was declined in GitLab.', again);
  throw new SignInError(
    'gitlab_unavailable',
    'Tollgate and GitLab could not agree on a sign-in from a terminal.',
    'Try again in a minute. If that does not help, the Tollgate team must check the application for terminals in GitLab.',
  );
}
