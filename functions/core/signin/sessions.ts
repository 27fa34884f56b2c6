import { createHash, createHmac } from 'node:crypto';
import type { SessionChange, SessionStore } from './dynamo-session-store.ts';
import { type Account, type RoleSource, type Session, SignInError, type User } from './model.ts';

export type RandomBytes = (count: number) => Uint8Array;

export const newId = (random: RandomBytes): string => Buffer.from(random(32)).toString('base64url');

/** The stored hash of an id: 256 random bits need neither salt nor many rounds. */
export const hashSecret = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('.')).digest('base64url');

/** Follows from the session's id, which only the browser has, so it is kept nowhere. */
export const makeCsrfToken = (sessionId: string): string =>
  createHmac('sha256', sessionId).update('csrf').digest('base64url');

/** A working day; then one click, because GitLab still knows the browser. */
export const SESSION_MS = 10 * 3_600_000;
/** An unattended screen is signed out after a lunch break. */
const IDLE_MS = 60 * 60_000;
/** Every request says that it was there; not every request is worth a write. */
const SEEN_STEP_MS = 60_000;
const ROLES_FRESH_MS = 10 * 60_000;
/** While GitLab is unreachable, roles stay valid this long; then the session ends. */
const ROLES_AGE_MS_MAX = 15 * 60_000;
/** A GitLab that was silent is left alone for so long, lest every page waits for it. */
const QUIET_MS = 20_000;

const isOver = ({ terminal, seenAtMs, endsAtMs }: Session, nowMs: number): boolean =>
  nowMs >= endsAtMs || (terminal !== true && nowMs - seenAtMs >= IDLE_MS);

export type Sessions = ReturnType<typeof createSessions>;

/** Roles are reloaded with Tollgate's own token, so that no user token is stored. */
export function createSessions(
  store: SessionStore,
  roles: RoleSource,
  clock: { nowMs(): number },
  random: RandomBytes,
) {
  const refreshing = new Map<string, Promise<Session | undefined>>();
  let quietUntilMs = Number.NEGATIVE_INFINITY;

  const change = async (idHash: string, session: Session, changed: SessionChange) =>
    (await store.change(idHash, changed)) ? { ...session, ...changed } : undefined;

  async function refresh(idHash: string, session: Session, nowMs: number): Promise<Session | undefined> {
    let account: Account | undefined;
    try {
      account = await roles.read(session.userId);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      if (error.code !== 'user_refused') {
        quietUntilMs = clock.nowMs() + QUIET_MS;
        if (clock.nowMs() - session.rolesReadAtMs < ROLES_AGE_MS_MAX)
          return change(idHash, session, { seenAtMs: nowMs });
      }
    }
    // Read no earlier than asked for.
    if (account !== undefined)
      return change(idHash, session, { ...account, rolesReadAtMs: nowMs, seenAtMs: nowMs });
    await store.remove(idHash);
    return undefined;
  }

  async function live(idHash: string, session: Session, nowMs: number): Promise<Session | undefined> {
    const ageMs = nowMs - session.rolesReadAtMs;
    if (ageMs < ROLES_FRESH_MS || (nowMs < quietUntilMs && ageMs < ROLES_AGE_MS_MAX))
      return nowMs - session.seenAtMs < SEEN_STEP_MS ? session : change(idHash, session, { seenAtMs: nowMs });
    const under = refreshing.get(idHash);
    if (under !== undefined) return under;
    const begun = refresh(idHash, session, nowMs).finally(() => refreshing.delete(idHash));
    refreshing.set(idHash, begun);
    return begun;
  }

  return {
    /** A new id each time, so that one planted before the sign-in is useless. @throws {SignInError} */
    async open(userId: number, formerId: string | undefined, where: Pick<Session, 'terminal'> = {}) {
      const startedAtMs = clock.nowMs();
      const account = await roles.read(userId);
      if (account === undefined)
        throw new SignInError(
          'user_refused',
          'GitLab does not list you as an active user.',
          'Ask an administrator of GitLab whether your account is blocked or deactivated.',
        );
      const id = newId(random);
      const times = { rolesReadAtMs: startedAtMs, seenAtMs: startedAtMs, endsAtMs: startedAtMs + SESSION_MS };
      await store.create(hashSecret(id), { userId, ...account, ...times, ...where });
      if (formerId !== undefined) await store.remove(hashSecret(formerId));
      return id;
    },

    /** Undefined: signed out. @throws {SignInError} `sessions_unavailable` */
    async resume(id: string): Promise<User | undefined> {
      const idHash = hashSecret(id);
      const session = await store.read(idHash);
      if (session === undefined) return undefined;
      const nowMs = clock.nowMs();
      if (isOver(session, nowMs)) {
        await store.remove(idHash);
        return undefined;
      }
      const current = await live(idHash, session, nowMs);
      if (current === undefined) return undefined;
      const { userId, username, name, roles: rights } = current;
      return { id: userId, username, name, roles: rights, sessionId: idHash, csrfToken: makeCsrfToken(id) };
    },

    end: (id: string): Promise<void> => store.remove(hashSecret(id)),
  };
}

export type OwnSessions = ReturnType<typeof ownSessions>;
export type OwnSessionRow = Awaited<ReturnType<OwnSessions['list']>>[number];

type SessionsToEnd = 'all' | 'others' | { readonly handle: string };

type Caller = Pick<User, 'id' | 'sessionId'>;

/** Each throws {@link SignInError} `sessions_unavailable`. */
export function ownSessions(store: Pick<SessionStore, 'ofUser' | 'remove'>, clock: { nowMs(): number }) {
  const shortHandle = (idHash: string): string => idHash.slice(0, 16);
  const live = async ({ id }: Caller) => {
    const nowMs = clock.nowMs();
    return (await store.ofUser(id)).filter(({ session }) => !isOver(session, nowMs));
  };
  return {
    /** The one that asks first, then by when they were seen. */
    async list(user: Caller) {
      const nowMs = clock.nowMs();
      const rows = (await live(user)).map(({ idHash, session }) => ({
        /** Names it in a form; it opens nothing, and is only good for its own user. */
        handle: shortHandle(idHash),
        isTerminal: session.terminal === true,
        isThis: idHash === user.sessionId,
        beganAgoMs: Math.max(0, nowMs - (session.endsAtMs - SESSION_MS)),
        seenAgoMs: Math.max(0, nowMs - session.seenAtMs),
      }));
      return rows.sort((a, b) => Number(b.isThis) - Number(a.isThis) || a.seenAgoMs - b.seenAgoMs);
    },
    async end(user: Caller, which: SessionsToEnd): Promise<number> {
      const ending = (await live(user)).filter(({ idHash }) => {
        if (which === 'all') return true;
        return which === 'others' ? idHash !== user.sessionId : shortHandle(idHash) === which.handle;
      });
      await Promise.all(ending.map(({ idHash }) => store.remove(idHash)));
      return ending.length;
    },
  };
}
