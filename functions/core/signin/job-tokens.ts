/** A CI job that asks about itself, by the `id_token` GitLab gives it: who it is stands in the token, and nothing of it is kept. */
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { SignInError, type User } from './model.ts';

interface JobTokensDeps {
  readonly issuer: string;
  readonly audience: string;
  readonly fetch: typeof fetch;
  readonly clock: { nowMs(): number };
}

/** Never an address that a token names. */
const KEYS_PATH = '/oauth/discovery/keys';
const TIMEOUT_MS = 2_000;
/** A key that GitLab withdrew is good for nothing this long afterwards. */
const FRESH_MS = 15 * 60_000;
/** Bounds the reads caused by invented key ids. */
const LOOK_MS = 60_000;
const QUIET_MS = 10_000;
/** Asymmetric algorithms only: with a symmetric one, the public key could sign. */
const ALGORITHMS = ['RS256', 'ES256'];
/** The library's codes for a list of keys that did not come or cannot be read; the others are of the token. */
const NO_KEYS = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'];
const TOLERANCE_SECONDS = 30;
/** GitLab's tokens last as long as their jobs may run; one that was carried off is of no use here after this. */
const AGE_SECONDS_MAX = 3_600;
/** Two hundred groups of the job's user make it some kilobytes long. */
const CHARACTERS_MAX = 12_288;

const id = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number);
const ClaimsSchema = z.object({ job_project_id: id, project_id: id, job_id: id });

/** The keys GitLab signs with. A new one is looked for at most once a minute. */
function gitlabKeys({ issuer, fetch: send, clock }: JobTokensDeps) {
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  return createRemoteJWKSet(new URL(`${issuer.replace(/\/$/, '')}${KEYS_PATH}`), {
    ...{ timeoutDuration: TIMEOUT_MS, cooldownDuration: LOOK_MS, cacheMaxAge: FRESH_MS },
    async [customFetch](url, init) {
      if (clock.nowMs() < quietUntilMs) throw new errors.JWKSTimeout();
      const response = await send(url, init).catch(() => undefined);
      if (response?.status === 200) return response;
      quietUntilMs = clock.nowMs() + QUIET_MS;
      throw new errors.JWKSTimeout();
    },
  });
}

export type JobTokenReader = (token: string) => Promise<User>;

/** @see https://docs.gitlab.com/ci/secrets/id_token_authentication/ */
export function jobTokenReader(deps: JobTokensDeps): JobTokenReader {
  const { issuer, audience, clock } = deps;
  const keys = gitlabKeys(deps);
  return async (token) => {
    if (token.length > CHARACTERS_MAX) throw invalid('is longer than any that GitLab makes');
    const { payload } = await jwtVerify(token, keys, {
      ...{ algorithms: ALGORITHMS, issuer, audience, requiredClaims: ['exp', 'nbf'] },
      ...{ clockTolerance: TOLERANCE_SECONDS, maxTokenAge: AGE_SECONDS_MAX },
      currentDate: new Date(clock.nowMs()),
    }).catch((error: unknown) => {
      const code = error instanceof errors.JOSEError ? error.code : undefined;
      if (code === undefined || NO_KEYS.includes(code))
        throw new SignInError(
          'gitlab_unavailable',
          'GitLab does not say which keys it signs with.',
          'Try again in a minute. If that does not help, the Tollgate team must check its connection to GitLab.',
        );
      throw invalid(describeFault(error, audience));
    });
    const claims = ClaimsSchema.safeParse(payload);
    if (!claims.success) throw invalid('does not say in which project its job runs');
    const { job_project_id: projectId, project_id: ofCode, job_id: jobId } = claims.data;
    // A fork's code could read the figures of the project that runs it.
    if (projectId !== ofCode)
      throw new SignInError(
        'job_of_fork',
        'The job runs the code of a fork, so it may not read the project it runs in.',
        'Run the pipeline in the fork, or ask without the console.',
      );
    return jobUser(projectId, jobId);
  };
}

/** The space distinguishes it from GitLab user names. */
const jobUser = (projectId: number, jobId: number): User => ({
  id: 0,
  username: `job ${jobId}`,
  name: `Job ${jobId}`,
  roles: { admin: false, finance: false, ownedGroupIds: [], viewerGroupIds: [], jobOfProjectId: projectId },
  sessionId: `project/${projectId}`,
  csrfToken: '',
});

/** The library's errors quote what was sent; only what a person can act on is taken over. */
function describeFault(error: unknown, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'has expired, or is older than an hour';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'is signed in a way that GitLab does not sign';
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return 'is not signed with a key of this GitLab';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'cannot be read';
  const faults: Readonly<Record<string, string>> = {
    aud: `is not made out to ${audience}`,
    iss: 'is of another GitLab',
    nbf: 'is not valid yet',
    iat: 'is not valid yet',
  };
  return faults[error.claim] ?? 'lacks what every one of GitLab’s has';
}

const invalid = (what: string): SignInError =>
  new SignInError(
    'job_token_invalid',
    `The job’s id_token ${what}.`,
    'Write `id_tokens:` into the job, with the address of this console as `aud`.',
  );
