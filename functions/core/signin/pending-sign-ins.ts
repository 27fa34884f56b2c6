/** Pending sign-ins. The browser keeps them in sealed cookies, so abandoned ones leave no data here. */
import { hkdfSync } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { secretHashOf } from './secret-ids.ts';

interface PendingSignIn {
  /** Ties GitLab's answer to our question. */
  readonly state: string;
  readonly nonce: string;
  /** PKCE: proves that the code returns from the same browser. */
  readonly codeVerifier: string;
  /** Path and query below our own address. */
  readonly returnTo: string;
}

interface PendingSignInsDeps {
  /** Secret of the application registered in GitLab; the key follows from it. Another secret ends what is pending. */
  readonly clientSecret: () => Promise<string>;
  readonly clock: { nowMs(): number };
  /** `__Host-`: https only, this host only, whole site. False for a console on the own machine. */
  readonly secure: boolean;
}

/** GitLab asks for a password and a second factor meanwhile. */
const PENDING_SECONDS = 10 * 60;
/** Tabs of one browser; their cookies come with every request, and all headers together must stay below 10 KB. */
const TABS_MAX = 5;
const KEY_USE = 'tollgate pending sign-in';
const KEY_BYTES = 32;
const NAME_CHARACTERS = 16;
const SEALED = /^[\w.-]{1,4000}$/;

/**
 * A cookie for each sign-in, named by its state, so that tabs do not overwrite each other's. It is sealed (AES-256-GCM)
 * though only its own browser has it: with the verifier in it a cookie that got lost would be worth a code that got lost, too.
 * It may come back more than once; the code it redeems is good once, at GitLab.
 */
export class PendingSignIns {
  readonly #deps: PendingSignInsDeps;
  readonly #prefix: string;
  readonly #options: {
    readonly path: '/';
    readonly httpOnly: true;
    readonly secure: boolean;
    readonly sameSite: 'Lax';
  };

  constructor(deps: PendingSignInsDeps) {
    this.#deps = deps;
    this.#prefix = `${deps.secure ? '__Host-' : ''}tollgate-signin-`;
    // Lax, not Strict: the way back from GitLab starts on another site.
    this.#options = { path: '/', httpOnly: true, secure: deps.secure, sameSite: 'Lax' };
  }

  /** Gives it to the browser for ten minutes. */
  async keep(c: Context, { state, nonce, codeVerifier, returnTo }: PendingSignIn): Promise<void> {
    const sealed = await new EncryptJWT({ state, nonce, codeVerifier, returnTo })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.floor(this.#deps.clock.nowMs() / 1_000) + PENDING_SECONDS)
      .encrypt(await this.#key());
    const begun = Object.keys(getCookie(c)).filter((name) => name.startsWith(this.#prefix));
    // With this many tabs, all but the new one were abandoned.
    if (begun.length >= TABS_MAX) for (const name of begun) deleteCookie(c, name, this.#options);
    setCookie(c, this.#nameOf(state), sealed, { ...this.#options, maxAge: PENDING_SECONDS });
  }

  /** Undefined: this browser began none with this state, or more than ten minutes ago. */
  async of(c: Context, state: string): Promise<PendingSignIn | undefined> {
    const sealed = getCookie(c, this.#nameOf(state));
    if (sealed === undefined || !SEALED.test(sealed)) return undefined;
    const pending = await this.#opened(sealed);
    return pending?.state === state ? pending : undefined;
  }

  forget(c: Context, state: string): void {
    deleteCookie(c, this.#nameOf(state), this.#options);
  }

  async #opened(sealed: string): Promise<PendingSignIn | undefined> {
    try {
      const { payload } = await jwtDecrypt<Partial<PendingSignIn>>(sealed, await this.#key(), {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp'],
        currentDate: new Date(this.#deps.clock.nowMs()),
      });
      const { state, nonce, codeVerifier, returnTo } = payload;
      return isText(state) && isText(nonce) && isText(codeVerifier) && isText(returnTo)
        ? { state, nonce, codeVerifier, returnTo }
        : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  async #key(): Promise<Uint8Array> {
    return new Uint8Array(hkdfSync('sha256', await this.#deps.clientSecret(), '', KEY_USE, KEY_BYTES));
  }

  #nameOf(state: string): string {
    return `${this.#prefix}${secretHashOf(state).slice(0, NAME_CHARACTERS)}`;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
