/** The keys GitLab signs with, from the address where it lists them. */
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  jwtVerify,
} from 'jose';
import { z } from 'zod';
import { SignInError, type User } from './model.ts';

interface GitLabKeysDeps {
  /** GitLab's address as it names itself. */
  readonly issuer: string;
  readonly fetch: typeof fetch;
  readonly clock: { nowMs(): number };
}

/** Below GitLab's own address; never one that a token names. */
const KEYS_PATH = '/oauth/discovery/keys';
/** A user waits, and a slot is occupied. */
const TIMEOUT_MS = 2_000;
/** GitLab lists two or three, some 400 bytes each. */
const KEYS_MAX = 20;
const BYTES_MAX = 64 * 1024;
/** A key that GitLab withdrew is good for nothing this long afterwards. */
const FRESH_MS = 15 * 60_000;
/** Bounds the reads caused by invented key ids. */
const LOOK_MS = 60_000;
/** A GitLab that did not answer is left alone for so long. */
const QUIET_MS = 10_000;

const ListedSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

interface KnownKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly untilMs: number;
}

export class GitLabKeys {
  readonly #deps: GitLabKeysDeps;
  #known: KnownKeys | undefined;
  #looking: Promise<void> | undefined;
  #lookAgainAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: GitLabKeysDeps) {
    this.#deps = deps;
  }

  /**
   * The public key that a header names by its id. A new one is looked for at most once a minute.
   *
   * @throws {JWKSNoMatchingKey} of jose; {GitLabKeysError} where GitLab does not list any.
   */
  async find(header: JWTHeaderParameters): Promise<CryptoKey> {
    if (typeof header.kid !== 'string') throw new errors.JWKSNoMatchingKey();
    const known = this.#fresh() ?? (await this.#look());
    if (known === undefined) throw new GitLabKeysError();
    try {
      return await known.find(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const anew = await this.#look();
      if (anew === undefined || anew === known) throw error;
      return anew.find(header);
    }
  }

  #fresh(): KnownKeys | undefined {
    const known = this.#known;
    return known !== undefined && this.#deps.clock.nowMs() < known.untilMs ? known : undefined;
  }

  async #look(): Promise<KnownKeys | undefined> {
    if (this.#looking === undefined && this.#deps.clock.nowMs() >= this.#lookAgainAtMs) {
      this.#looking = this.#read().finally(() => {
        this.#looking = undefined;
      });
    }
    await this.#looking;
    return this.#fresh();
  }

  /** Never throws: what was known stands until it is too old. */
  async #read(): Promise<void> {
    const { issuer, fetch: send, clock } = this.#deps;
    this.#lookAgainAtMs = clock.nowMs() + LOOK_MS;
    try {
      const response = await send(`${issuer.replace(/\/$/, '')}${KEYS_PATH}`, {
        headers: { accept: 'application/json' },
        // GitLab does not redirect here.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.status !== 200) throw new GitLabKeysError();
      const { keys } = ListedSchema.parse(JSON.parse(await textWithin(response, BYTES_MAX)));
      // A secret is no key to check a signature of GitLab's with.
      const open = keys.filter(({ kty, d }) => (kty === 'RSA' || kty === 'EC') && d === undefined);
      if (open.length === 0 || open.length > KEYS_MAX) throw new GitLabKeysError();
      const find = createLocalJWKSet({ keys: open } as JSONWebKeySet);
      this.#known = { find, untilMs: clock.nowMs() + FRESH_MS };
    } catch {
      this.#lookAgainAtMs = clock.nowMs() + QUIET_MS;
    }
  }
}

/** GitLab lists no keys that can be used, or does not answer. */
class GitLabKeysError extends Error {
  override readonly name = 'GitLabKeysError';
}

async function textWithin({ body }: Response, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new GitLabKeysError();
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

// A CI job that asks about itself, by the `id_token` GitLab gives it: who it is stands in the token, and nothing of it is kept.
//
// @see https://docs.gitlab.com/ci/secrets/id_token_authentication/

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
