/** Stores closed statements: one item each, its number in a list, and a register of the last number. */
import {
  absent,
  answered,
  any,
  getItem,
  type InstanceTable,
  type Item,
  type ItemCondition,
  itemAt,
  ledgerKeys,
  numberIs,
  putItem,
  putOf,
  queryAll,
  queryPage,
  TimeLimit,
  transactItems,
  unavailable,
} from '../store/index.ts';
import type { ClosedStatement, SealedStatement } from './closed-statement.ts';

interface StatementRegister {
  /** The last number that was given; 0: none was. */
  readonly last: number;
  /** When every group was last looked at, Unix ms; 0: never. */
  readonly lookedAtMs: number;
}

export interface NumberedStatement {
  readonly number: number;
  readonly subject: string;
  readonly month: string;
  readonly sha256: string;
}

/** Every method throws `ledger_unavailable` where the table gives no answer. */
export interface StatementChain {
  register(): Promise<StatementRegister>;
  /** Notes that every group was looked at. */
  noteLooked(register: StatementRegister, atMs: number): Promise<void>;
  /** A group's, by month. */
  of(subject: string): Promise<readonly SealedStatement[]>;
  /** The group's last one. */
  last(subject: string): Promise<SealedStatement | undefined>;
  /** The numbers that begin with `from`, up to the end of their block; in their order. */
  numbers(from: number): Promise<readonly NumberedStatement[]>;
  /** Stores it under the next number. `contended`: the number or month was taken concurrently; read again. */
  append(statement: SealedStatement): Promise<'written' | 'contended'>;
}

const TIMEOUT_MS = 10_000;
const LAST = 'n';
const LOOKED_AT = 'at';
const TEXT = 'tx';
const SHA256 = 'sh';
const SUBJECT = 'su';
const MONTH = 'mo';

export function dynamoStatementChain({ table, instance }: InstanceTable): StatementChain {
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  const limit = (): TimeLimit => new TimeLimit(TIMEOUT_MS);
  const read = <T>(what: string, ask: () => Promise<T>): Promise<T> => answered(`read ${what}`, failure, ask);
  const registerItem = (last: number, lookedAtMs: number): Item =>
    itemAt(keys.statementRegister, {
      [LAST]: { N: String(last) },
      [LOOKED_AT]: { N: String(lookedAtMs) },
    });
  const register = async (): Promise<StatementRegister> => {
    const item = await read('the register of statements', () =>
      getItem(table, keys.statementRegister, limit()),
    );
    return { last: Number(item?.[LAST]?.N ?? 0), lookedAtMs: Number(item?.[LOOKED_AT]?.N ?? 0) };
  };
  return {
    register,
    async noteLooked({ last }, atMs) {
      // After a concurrent closing, every group is checked again.
      await answered('write the register of statements', failure, () =>
        putItem(table, registerItem(last, atMs), limit(), isLast(last)),
      );
    },
    of: async (subject) => {
      const ask = { pk: keys.closedStatement(subject, '').pk, consistent: true };
      return (await read('statements', () => queryAll(table, ask, limit()))).map(decode);
    },
    async last(subject) {
      const { pk } = keys.closedStatement(subject, '');
      const ask = { pk, consistent: true, backwards: true, pageItems: 1 } as const;
      const { items } = await read('the last statement', () => queryPage(table, ask, limit()));
      return items.map(decode)[0];
    },
    async numbers(from) {
      const ask = { pk: keys.statementNumber(from).pk, consistent: true };
      const items = await read('numbers of statements', () => queryAll(table, ask, limit()));
      return items.map(decodeNumber).filter(({ number }) => number >= from);
    },
    async append({ statement, text, sha256 }) {
      const { number, subject, month } = statement;
      const { lookedAtMs } = await register();
      const { outcome } = await answered('write a statement', failure, () =>
        transactItems(
          table,
          [
            putOf(registerItem(number, lookedAtMs), isLast(number - 1)),
            putOf(
              itemAt(keys.statementNumber(number), {
                [LAST]: { N: String(number) },
                [SUBJECT]: { S: subject },
                [MONTH]: { S: month },
                [SHA256]: { S: sha256 },
              }),
              absent(),
            ),
            putOf(
              itemAt(keys.closedStatement(subject, month), { [TEXT]: { S: text }, [SHA256]: { S: sha256 } }),
              absent(),
            ),
          ],
          limit(),
          // The same statement is written once, however often its answer is lost.
          sha256.slice(0, TOKEN_LENGTH),
        ),
      );
      return outcome === 'written' ? 'written' : 'contended';
    },
  };
}

/** The register stands there as it was read, or not at all. */
const isLast = (number: number): ItemCondition =>
  number === 0 ? any([absent(), numberIs(LAST, '=', 0)]) : numberIs(LAST, '=', number);

/** DynamoDB's own bound on a token. */
const TOKEN_LENGTH = 36;

const decode = (item: Item): SealedStatement => {
  const text = item[TEXT]?.S ?? '{}';
  return { text, sha256: item[SHA256]?.S ?? '', statement: JSON.parse(text) as ClosedStatement };
};

const decodeNumber = (item: Item): NumberedStatement => ({
  number: Number(item[LAST]?.N ?? 0),
  subject: item[SUBJECT]?.S ?? '',
  month: item[MONTH]?.S ?? '',
  sha256: item[SHA256]?.S ?? '',
});
