import {
  all,
  answered,
  begins,
  deleteItem,
  type InstanceTable,
  keyOf,
  ledgerKeys,
  numberIs,
  PK,
  SK,
  scanPages,
  TimeLimit,
  unavailable,
} from '../store/index.ts';
import { USER_ID } from './session-item.ts';

/** Lists sessions by user, including old ones without an index entry: it reads the whole table. */
export interface UserSessions {
  /** Ends all of a user's sessions, or only counts them. @throws {LedgerError} `ledger_unavailable` */
  end(userId: number, options: { readonly dryRun: boolean }): Promise<number>;
}

const TIMEOUT_MS = 10_000;
const SESSION_SK = 'session';

export const dynamoUserSessions = ({ table, instance }: InstanceTable): UserSessions => ({
  end: (userId, { dryRun }) =>
    answered('look for sessions and end them', unavailable(table), async () => {
      const filter = all([begins(PK, ledgerKeys(instance).sessionPrefix), numberIs(USER_ID, '=', userId)]);
      let ended = 0;
      for await (const items of scanPages(
        table,
        { filter, attributes: [PK, SK], consistent: true },
        TIMEOUT_MS,
      )) {
        // Index entries of the user are deleted as well.
        ended += items.filter((item) => keyOf(item).sk === SESSION_SK).length;
        if (dryRun) continue;
        for (const item of items) await deleteItem(table, keyOf(item), new TimeLimit(TIMEOUT_MS));
      }
      return ended;
    }),
});
