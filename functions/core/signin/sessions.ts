import { createHash, createHmac } from 'node:crypto';
import {
  type Account,
  type RoleSource,
  type Session,
  type SessionStore,
  SignInError,
  type User,
} from './model.ts';

/** Random bytes of an id. */
export type RandomBytes = (count: number) => Uint8Array;

const ID_BYTES = 32;

/** 256 random bits, as 43 characters. */
export const newId = (random: RandomBytes): string => Buffer.from(random(ID_BYTES)).toString('base64url');

/** The stored hash of an id: 256 random bits need neither salt nor many rounds. */
export const secretHashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('.')).digest('base64url');

/** Follows from the session's id, which only the browser has, so it is kept nowhere. */
export const csrfTokenOf = (sessionId: string): string =>
  createHmac('sha256', sessionId).update('csrf').digest('base64url');

interface SessionsDeps {
  readonly store: SessionStore;
  readonly roles: RoleSource;
  readonly clock: { nowMs(): number };
  readonly random: RandomBytes;
}

/** A working day; then one click, because GitLab still knows the browser. */
export const SESSION_MS = 10 * 3_600_000;
/** An unattended screen is signed out after a lunch break. */
const IDLE_MS = 60 * 60_000;
/** Every request says that it was there; not every request is worth a write. */
const SEEN_STEP_MS = 60_000;
/** Older roles are reloaded with the next request. */
const ROLES_FRESH_MS = 10 * 60_000;
/** While GitLab is unreachable, roles stay valid this long; then the session ends. */
const ROLES_AGE_MS_MAX = 15 * 60_000;
/** A GitLab that was silent is left alone for so long, lest every page waits for it. */
const QUIET_MS = 20_000;

/** It has come to its end, or its browser was left alone. */
const isOver = ({ terminal, seenAtMs, endsAtMs }: Session, nowMs: number): boolean =>
  nowMs >= endsAtMs || (terminal !== true && nowMs - seenAtMs >= IDLE_MS);

/**
 * Opens, resumes and ends sessions. Roles are reloaded with Tollgate's own token, so that no user token is
 * stored and no page is interrupted.
 */
export class Sessions {
  readonly #deps: SessionsDeps;
  /** One question per session, however many requests wait for it. */
  readonly #refreshing = new Map<string, Promise<Session | undefined>>();
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /**
   * Always creates a new cookie id, so that an id planted before the sign-in is useless.
   *
   * @throws {SignInError} `user_refused`, `gitlab_unavailable`, `sessions_unavailable`
   */
  async open(
    userId: number,
    formerId: string | undefined,
    where: Pick<Session, 'terminal'> = {},
  ): Promise<string> {
    const { store, roles, clock, random } = this.#deps;
    const askedAtMs = clock.nowMs();
    const account = await roles.read(userId);
    if (account === undefined) {
      throw new SignInError(
        'user_refused',
        'GitLab does not list you as an active user.',
        'Ask an administrator of GitLab whether your account is blocked or deactivated.',
      );
    }
    const id = newId(random);
    const endsAtMs = askedAtMs + SESSION_MS;
    const times = { rolesReadAtMs: askedAtMs, seenAtMs: askedAtMs, endsAtMs };
    const session = { userId, ...account, ...times, ...where };
    await store.create(secretHashOf(id), session);
    if (formerId !== undefined) await store.remove(secretHashOf(formerId));
    return id;
  }

  /** Undefined: signed out. @throws {SignInError} `sessions_unavailable` */
  async resume(id: string): Promise<User | undefined> {
    const { store, clock } = this.#deps;
    const idHash = secretHashOf(id);
    const session = await store.read(idHash);
    if (session === undefined) return undefined;
    const nowMs = clock.nowMs();
    if (isOver(session, nowMs)) {
      await store.remove(idHash);
      return undefined;
    }
    const live = await this.#kept(idHash, session, nowMs);
    if (live === undefined) return undefined;
    const { userId, username, name, roles } = live;
    return { id: userId, username, name, roles, sessionId: idHash, csrfToken: csrfTokenOf(id) };
  }

  async end(id: string): Promise<void> {
    await this.#deps.store.remove(secretHashOf(id));
  }

  async #kept(idHash: string, session: Session, nowMs: number): Promise<Session | undefined> {
    const ageMs = nowMs - session.rolesReadAtMs;
    const isQuiet = nowMs < this.#quietUntilMs && ageMs < ROLES_AGE_MS_MAX;
    if (ageMs < ROLES_FRESH_MS || isQuiet) {
      if (nowMs - session.seenAtMs < SEEN_STEP_MS) return session;
      return (await this.#deps.store.change(idHash, { seenAtMs: nowMs })) ? session : undefined;
    }
    const under = this.#refreshing.get(idHash);
    if (under !== undefined) return under;
    const refreshing = this.#refresh(idHash, session, nowMs).finally(() => this.#refreshing.delete(idHash));
    this.#refreshing.set(idHash, refreshing);
    return refreshing;
  }

  async #refresh(idHash: string, session: Session, nowMs: number): Promise<Session | undefined> {
    const { store, clock } = this.#deps;
    const account = await this.#ask(session.userId);
    if (account === 'silent' && clock.nowMs() - session.rolesReadAtMs < ROLES_AGE_MS_MAX)
      return (await store.change(idHash, { seenAtMs: nowMs })) ? session : undefined;
    if (account === 'silent' || account === undefined) {
      await store.remove(idHash);
      return undefined;
    }
    // Read no earlier than asked for.
    const change = { ...account, rolesReadAtMs: nowMs, seenAtMs: nowMs };
    return (await store.change(idHash, change)) ? { ...session, ...change } : undefined;
  }

  async #ask(userId: number): Promise<Account | undefined | 'silent'> {
    try {
      return await this.#deps.roles.read(userId);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      if (error.code === 'user_refused') return undefined;
      this.#quietUntilMs = this.#deps.clock.nowMs() + QUIET_MS;
      return 'silent';
    }
  }
}

// Lists a user's own sessions, and ends them.

export interface OwnSessionRow {
  /** Names it in a form; it opens nothing, and is only good for its own user. */
  readonly handle: string;
  /** Signed in from a terminal; else from a browser. */
  readonly isTerminal: boolean;
  /** The one that asks. */
  readonly isThis: boolean;
  readonly beganAgoMs: number;
  /** A minute exact. */
  readonly seenAgoMs: number;
}

/** `others`: all but the one that asks; else a handle. */
type SessionsToEnd = 'all' | 'others' | { readonly handle: string };

type Asking = Pick<User, 'id' | 'sessionId'>;

export interface OwnSessions {
  /** The one that asks first, then by when they were seen. @throws {SignInError} `sessions_unavailable`, like both. */
  list(user: Asking): Promise<readonly OwnSessionRow[]>;
  /** Returns the number of ended sessions. */
  end(user: Asking, which: SessionsToEnd): Promise<number>;
}

const HANDLE_CHARACTERS = 16;

export function ownSessions(
  store: Pick<SessionStore, 'ofUser' | 'remove'>,
  clock: { nowMs(): number },
): OwnSessions {
  const handleOf = (idHash: string): string => idHash.slice(0, HANDLE_CHARACTERS);
  const live = async ({ id }: Asking) => {
    const nowMs = clock.nowMs();
    return (await store.ofUser(id)).filter(({ session }) => !isOver(session, nowMs));
  };
  return {
    async list(user) {
      const nowMs = clock.nowMs();
      const rows = (await live(user)).map(({ idHash, session }): OwnSessionRow => {
        const beganAgoMs = nowMs - (session.endsAtMs - SESSION_MS);
        return {
          handle: handleOf(idHash),
          isTerminal: session.terminal === true,
          isThis: idHash === user.sessionId,
          beganAgoMs: Math.max(0, beganAgoMs),
          seenAgoMs: Math.max(0, nowMs - session.seenAtMs),
        };
      });
      return rows.sort((a, b) => Number(b.isThis) - Number(a.isThis) || a.seenAgoMs - b.seenAgoMs);
    },
    async end(user, which) {
      const ending = (await live(user)).filter(({ idHash }) => {
        if (which === 'all') return true;
        return which === 'others' ? idHash !== user.sessionId : handleOf(idHash) === which.handle;
      });
      await Promise.all(ending.map(({ idHash }) => store.remove(idHash)));
      return ending.length;
    },
  };
}
