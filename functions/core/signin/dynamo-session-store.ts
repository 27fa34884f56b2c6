import { z } from 'zod';
import { parsedJson } from '../../../policies/document/reading.ts';
import { changeItem, deleteItem, getItem, itemAt, putItem, queryAll } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import { type InstanceTable, type Item, keyOf, TimeLimit, TTL_ATTRIBUTE } from '../store/operation.ts';
import { answered, type TableFailure, unavailable } from '../store/table-failure.ts';
import { type Session, SignInError } from './model.ts';

const USER_ID = 'ui';
const ENDS_AT = 'en';
const ATTRIBUTES = {
  ...{ userId: USER_ID, endsAtMs: ENDS_AT, username: 'un', name: 'na', roles: 'ro' },
  ...{ rolesReadAtMs: 'ra', seenAtMs: 'se', terminal: 'te' },
} as const satisfies Record<keyof Session, string>;

function attributeValue(field: Session[keyof Session]): Item[string] {
  if (typeof field === 'string') return { S: field };
  return typeof field === 'object' ? { S: JSON.stringify(field) } : { N: String(Number(field)) };
}

const encode = (fields: Partial<Session>): Item =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [ATTRIBUTES[name as keyof Session], attributeValue(field)]),
  );

const whole = z.coerce.number().int();
const ids = z.array(z.number().int());
const RolesSchema = z.object({
  ...{ admin: z.boolean(), finance: z.boolean(), ownedGroupIds: ids, viewerGroupIds: ids },
});
const SessionSchema = z.object({
  ...{ userId: whole, endsAtMs: whole, username: z.string(), name: z.string() },
  roles: z.string().transform(parsedJson).pipe(RolesSchema),
  ...{ rolesReadAtMs: whole, seenAtMs: whole, terminal: z.literal('1').optional() },
});

/** Undefined for a damaged item; its user signs in again. */
function decode(item: Item): Session | undefined {
  const names = Object.entries(ATTRIBUTES);
  const values = names.map(([name, attribute]) => [name, item[attribute]?.S ?? item[attribute]?.N]);
  const { data } = SessionSchema.safeParse(Object.fromEntries(values));
  if (data === undefined) return undefined;
  const { terminal, ...session } = data;
  return terminal === undefined ? session : { ...session, terminal: true };
}

const TIMEOUT_MS = 2_000;
const TTL_GRACE_SECONDS = 3_600;
const OF_USER_MAX = 100;

export type SessionStore = ReturnType<typeof dynamoSessionStore>;
export type SessionChange = Partial<Omit<Session, 'userId' | 'endsAtMs' | 'terminal'>>;

/**
 * Stores sessions by the hash of the cookie's id, so that readers of the table cannot sign in, and under keys that scans of the ledger
 * skip. Sign-out takes effect immediately everywhere. Each function throws {@link SignInError} `sessions_unavailable`.
 */
export function dynamoSessionStore({ table, instance }: InstanceTable) {
  const keys = ledgerKeys(instance);
  return {
    create: (idHash: string, session: Session) =>
      attempt('write', async (limit) => {
        const ttl = { N: String(Math.ceil(session.endsAtMs / 1_000) + TTL_GRACE_SECONDS) };
        const { userId, endsAtMs } = session;
        const entry = { ...encode({ userId, endsAtMs }), [TTL_ATTRIBUTE]: ttl };
        // First, so that users can find each open session of theirs.
        await putItem(table, itemAt(keys.sessionOfUser(userId, idHash), entry), limit);
        const item = itemAt(keys.session(idHash), { ...encode(session), [TTL_ATTRIBUTE]: ttl });
        await putItem(table, item, limit);
      }),
    read: (idHash: string) =>
      attempt('read', async (limit) => {
        const item = await getItem(table, keys.session(idHash), limit);
        return item && decode(item);
      }),
    /** Returns false if the session is gone; it does not come back. */
    change: (idHash: string, change: SessionChange) =>
      attempt('change', (limit) => changeItem(table, keys.session(idHash), encode(change), limit)),
    remove: (idHash: string) => attempt('remove', (limit) => deleteItem(table, keys.session(idHash), limit)),
    /** The last hundred; some may have ended. */
    ofUser: (userId: number) =>
      attempt('read', async (limit) => {
        const { pk } = keys.sessionOfUser(userId, '');
        const entries = await queryAll(table, { pk, consistent: true }, limit);
        const latest = [...entries].sort((a, b) => readEnd(b) - readEnd(a)).slice(0, OF_USER_MAX);
        const found = await Promise.all(
          latest.map(async (item) => {
            const { sk: idHash } = keyOf(item);
            const session = decode((await getItem(table, keys.session(idHash), limit)) ?? {});
            return session?.userId === userId ? [{ idHash, session }] : [];
          }),
        );
        return found.flat();
      }),
  };
}

const readEnd = (item: Item): number => Number(item[ENDS_AT]?.N ?? 0);

const attempt = <T>(doing: string, call: (limit: TimeLimit) => Promise<T>): Promise<T> =>
  answered(doing, failure, () => call(new TimeLimit(TIMEOUT_MS)));

/** People read it: why it failed goes on by its name alone. */
const failure: TableFailure = (doing, _, error) =>
  new SignInError(
    'sessions_unavailable',
    `Tollgate could not ${doing} its record of who is signed in (${error instanceof Error ? error.name : typeof error}).`,
    'Try again in a minute.',
  );

const FORGET_TIMEOUT_MS = 10_000;

export const dynamoUserSessions = ({ table, instance }: InstanceTable) => ({
  /** Ends all of a user's sessions, or only counts them. @throws {LedgerError} `ledger_unavailable` */
  end: (userId: number, { dryRun }: { readonly dryRun: boolean }): Promise<number> =>
    answered('look for sessions and end them', unavailable(table), async () => {
      const keys = ledgerKeys(instance);
      const limit = new TimeLimit(FORGET_TIMEOUT_MS);
      const { pk } = keys.sessionOfUser(userId, '');
      const entries = (await queryAll(table, { pk, consistent: true }, limit)).map(keyOf);
      // The index entry names the user, so it goes as well, and last.
      for (const key of dryRun ? [] : entries) {
        await deleteItem(table, keys.session(key.sk), limit);
        await deleteItem(table, key, limit);
      }
      return entries.length;
    }),
});
