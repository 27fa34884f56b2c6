import {
  answered,
  changeItem,
  deleteItem,
  getItem,
  type InstanceTable,
  type Item,
  itemAt,
  keyOf,
  ledgerKeys,
  putItem,
  queryAll,
  type TableFailure,
  TimeLimit,
  TTL_ATTRIBUTE,
} from '../store/index.ts';
import { changeAttributes, ENDS_AT, sessionAttributes, sessionOf, USER_ID } from './session-item.ts';
import type { SessionStore } from './session-store.ts';
import { SignInError } from './sign-in-error.ts';

/** Every page waits for it; one item takes some 5 ms. */
const TIMEOUT_MS = 2_000;
/** Later than the end of a session, so that clocks that differ do not matter. */
const TTL_GRACE_SECONDS = 3_600;
/** More sign-ins than one user makes in ten hours. */
const OF_USER_MAX = 100;

/** Stores sessions under keys that scans of the ledger skip. Sign-out takes effect immediately everywhere. */
export function dynamoSessionStore({ table, instance }: InstanceTable): SessionStore {
  const keys = ledgerKeys(instance);
  return {
    create: (idHash, session) =>
      tried('write', async (limit) => {
        const ttl = { N: String(Math.ceil(session.endsAtMs / 1_000) + TTL_GRACE_SECONDS) };
        const { [USER_ID]: user, [ENDS_AT]: end } = sessionAttributes(session);
        const mine = {
          ...(user && { [USER_ID]: user }),
          ...(end && { [ENDS_AT]: end }),
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
    // A sign-out meanwhile is not undone.
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
            // It may have ended: what was noted of it goes by itself.
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
