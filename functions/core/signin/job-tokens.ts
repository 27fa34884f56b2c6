/**
 * A CI job that asks about itself, by the `id_token` GitLab gives it: who it is stands in the token, and nothing of it is kept.
 *
 * @see https://docs.gitlab.com/ci/secrets/id_token_authentication/
 */
import { errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { GitLabKeys, GitLabKeysError } from './gitlab-keys.ts';
import { SignInError } from './sign-in-error.ts';
import type { User } from './user.ts';

interface JobTokensDeps {
  /** GitLab's address as it names itself. */
  readonly issuer: string;
  /** Our own, `https://budget.example.com`: what the token is made out to. */
  readonly audience: string;
  readonly fetch: typeof fetch;
  readonly clock: { nowMs(): number };
}

/** Asymmetric algorithms only: with a symmetric one, the public key could sign. */
const ALGORITHMS = ['RS256', 'ES256'];
/** Clocks of GitLab and ours may differ by so much. */
const TOLERANCE_SECONDS = 30;
/** GitLab's tokens last as long as their jobs may run; one that was carried off is of no use here after this. */
const AGE_SECONDS_MAX = 3_600;
/** Two hundred groups of the job's user make it some kilobytes long. */
const CHARACTERS_MAX = 12_288;

/** GitLab writes ids as texts. */
const id = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number);
const ClaimsSchema = z.object({ job_project_id: id, project_id: id, job_id: id });

export class JobTokens {
  readonly #deps: JobTokensDeps;
  readonly #keys: GitLabKeys;

  constructor(deps: JobTokensDeps) {
    this.#deps = deps;
    this.#keys = new GitLabKeys(deps);
  }

  /**
   * The job as a user that sees its own project, by the project in which it runs.
   *
   * @throws {SignInError} `job_token_invalid`, `job_of_fork`, `gitlab_unavailable`
   */
  async read(token: string): Promise<User> {
    if (token.length > CHARACTERS_MAX) throw invalid('is longer than any that GitLab makes');
    const claims = ClaimsSchema.safeParse(await this.#verified(token));
    if (!claims.success) throw invalid('does not say in which project its job runs');
    const { job_project_id: projectId, project_id: ofCode, job_id: jobId } = claims.data;
    // A fork's code could read the figures of the project that runs it.
    if (projectId !== ofCode) throw ofFork();
    return jobUser(projectId, jobId);
  }

  async #verified(token: string): Promise<unknown> {
    const { issuer, audience, clock } = this.#deps;
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keys.find(header), {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        clockTolerance: TOLERANCE_SECONDS,
        maxTokenAge: AGE_SECONDS_MAX,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ['exp', 'nbf'],
      });
      return payload;
    } catch (error) {
      if (error instanceof GitLabKeysError) throw noKeys();
      throw invalid(whatIsWrong(error, audience));
    }
  }
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
function whatIsWrong(error: unknown, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'has expired, or is older than an hour';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'is signed in a way that GitLab does not sign';
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return 'is not signed with a key of this GitLab';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'cannot be read';
  switch (error.claim) {
    case 'aud':
      return `is not made out to ${audience}`;
    case 'iss':
      return 'is of another GitLab';
    case 'nbf':
    case 'iat':
      return 'is not valid yet';
    default:
      return 'lacks what every one of GitLab’s has';
  }
}

const invalid = (what: string): SignInError =>
  new SignInError(
    'job_token_invalid',
    `The job’s id_token ${what}.`,
    'Write `id_tokens:` into the job, with the address of this console as `aud`.',
  );

const ofFork = (): SignInError =>
  new SignInError(
    'job_of_fork',
    'The job runs the code of a fork, and is told nothing of the project it runs in.',
    'Run the pipeline in the fork, or ask without the console.',
  );

const noKeys = (): SignInError =>
  new SignInError(
    'gitlab_unavailable',
    'GitLab does not say which keys it signs with.',
    'Try again in a minute; if that does not help, whoever runs Tollgate checks that it reaches GitLab.',
  );
