import { z } from 'zod';
import { parsedJson } from '../../../policies/document/reading.ts';
import { changeItem, deleteItem, getItem, itemAt, putItem, queryAll } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import { type InstanceTable, type Item, keyOf, TimeLimit, TTL_ATTRIBUTE } from '../store/operation.ts';
import { answered, type TableFailure, unavailable } from '../store/table-failure.ts';
import { type Session, type SessionChange, type SessionStore, SignInError } from './model.ts';

const USER_ID = 'ui';
const ENDS_AT = 'en';

const text = (value: string): Item[string] => ({ S: value });
const whole = (value: number): Item[string] => ({ N: String(value) });

function changeAttributes({ username, name, roles, rolesReadAtMs, seenAtMs }: SessionChange): Item {
  return {
    ...(username !== undefined && { un: text(username) }),
    ...(name !== undefined && { na: text(name) }),
    ...(roles !== undefined && { ro: text(JSON.stringify(roles)) }),
    ...(rolesReadAtMs !== undefined && { ra: whole(rolesReadAtMs) }),
    ...(seenAtMs !== undefined && { se: whole(seenAtMs) }),
  };
}

const sessionAttributes = (session: Session): Item => ({
  ...changeAttributes(session),
  [USER_ID]: whole(session.userId),
  [ENDS_AT]: whole(session.endsAtMs),
  ...(session.terminal && { te: whole(1) }),
});

const TextSchema = z.object({ S: z.string() }).transform(({ S }) => S);
const WholeSchema = z.object({ N: z.coerce.number().int() }).transform(({ N }) => N);
const ids = z.array(z.number().int());
const RolesSchema = z.object({
  admin: z.boolean(),
  finance: z.boolean(),
  ownedGroupIds: ids,
  viewerGroupIds: ids,
});
const ItemSchema = z.object({
  ...{ [USER_ID]: WholeSchema, [ENDS_AT]: WholeSchema, un: TextSchema, na: TextSchema },
  ro: TextSchema.transform(parsedJson).pipe(RolesSchema),
  ...{ ra: WholeSchema, se: WholeSchema, te: WholeSchema.optional() },
});

/** Undefined for a damaged item; its user signs in again. */
function sessionOf(item: Readonly<Record<string, unknown>>): Session | undefined {
  const { data } = ItemSchema.safeParse(item);
  if (data === undefined) return undefined;
  const { ui: userId, en: endsAtMs, un: username, na: name, ro: roles, ra, se, te } = data;
  const session = { userId, username, name, roles, rolesReadAtMs: ra, seenAtMs: se, endsAtMs };
  return te === 1 ? { ...session, terminal: true } : session;
}

const TIMEOUT_MS = 2_000;
const TTL_GRACE_SECONDS = 3_600;
const OF_USER_MAX = 100;

/** Stores sessions under keys that scans of the ledger skip. Sign-out takes effect immediately everywhere. */
export function dynamoSessionStore({ table, instance }: InstanceTable): SessionStore {
  const keys = ledgerKeys(instance);
  return {
    create: (idHash, session) =>
      tried('write', async (limit) => {
        const ttl = { N: String(Math.ceil(session.endsAtMs / 1_000) + TTL_GRACE_SECONDS) };
        const mine = {
          ...{ [USER_ID]: whole(session.userId), [ENDS_AT]: whole(session.endsAtMs) },
          [TTL_ATTRIBUTE]: ttl,
        };
        // Noted first: no session is open that its user cannot find.
        await putItem(table, itemAt(keys.sessionOfUser(session.userId, idHash), mine), limit);
        const item = itemAt(keys.session(idHash), { ...sessionAttributes(session), [TTL_ATTRIBUTE]: ttl });
        await putItem(table, item, limit);
      }),
    read: (idHash) =>
      tried('read', async (limit) => {
        const item = await getItem(table, keys.session(idHash), limit);
        return item && sessionOf(item);
      }),
    change: (idHash, change) =>
      tried('change', (limit) => changeItem(table, keys.session(idHash), changeAttributes(change), limit)),
    remove: (idHash) => tried('remove', (limit) => deleteItem(table, keys.session(idHash), limit)),
    ofUser: (userId) =>
      tried('read', async (limit) => {
        const { pk } = keys.sessionOfUser(userId, '');
        const noted = await queryAll(table, { pk, consistent: true }, limit);
        const latest = [...noted].sort((a, b) => endOf(b) - endOf(a)).slice(0, OF_USER_MAX);
        const found = await Promise.all(
          latest.map(async (item) => {
            const { sk: idHash } = keyOf(item);
            const session = sessionOf((await getItem(table, keys.session(idHash), limit)) ?? {});
            return session?.userId === userId ? [{ idHash, session }] : [];
          }),
        );
        return found.flat();
      }),
  };
}

const endOf = (item: Item): number => Number(item[ENDS_AT]?.N ?? 0);

const tried = <T>(doing: string, call: (limit: TimeLimit) => Promise<T>): Promise<T> =>
  answered(doing, failure, () => call(new TimeLimit(TIMEOUT_MS)));

/** People read it: why it failed goes on by its name alone. */
const failure: TableFailure = (doing, _, error) =>
  new SignInError(
    'sessions_unavailable',
    `Tollgate could not ${doing} its record of who is signed in (${error instanceof Error ? error.name : typeof error}).`,
    'Try again in a minute.',
  );

const FORGET_TIMEOUT_MS = 10_000;

export type UserSessions = ReturnType<typeof dynamoUserSessions>;

export const dynamoUserSessions = ({ table, instance }: InstanceTable) => ({
  /** Ends all of a user's sessions, or only counts them. @throws {LedgerError} `ledger_unavailable` */
  end: (userId: number, { dryRun }: { readonly dryRun: boolean }): Promise<number> =>
    answered('look for sessions and end them', unavailable(table), async () => {
      const keys = ledgerKeys(instance);
      const limit = new TimeLimit(FORGET_TIMEOUT_MS);
      const { pk } = keys.sessionOfUser(userId, '');
      const noted = (await queryAll(table, { pk, consistent: true }, limit)).map(keyOf);
      // The index entry names the user, so it goes as well, and last.
      for (const key of dryRun ? [] : noted) {
        await deleteItem(table, keys.session(key.sk), limit);
        await deleteItem(table, key, limit);
      }
      return noted.length;
    }),
});
