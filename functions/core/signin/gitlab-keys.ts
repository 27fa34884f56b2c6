/** The keys GitLab signs with, from the address where it lists them. */
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTHeaderParameters,
} from 'jose';
import { z } from 'zod';

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
export class GitLabKeysError extends Error {
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
