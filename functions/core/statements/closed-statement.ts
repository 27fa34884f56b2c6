/** A month of a group as it was closed, its text and its hash. Pure. */
import { createHash } from 'node:crypto';
import { getItem, itemAt, putItem, putOf, queryAll, queryPage, transactItems } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import {
  absent,
  any,
  type InstanceTable,
  type Item,
  type ItemCondition,
  numberIs,
  TimeLimit,
} from '../store/operation.ts';
import { answered, unavailable } from '../store/table-failure.ts';

/** Amounts are millionths of the currency, instants Unix ms. */
export interface ClosedStatement {
  readonly number: number;
  /** `group/101` or `instance`. */
  readonly subject: string;
  readonly group: string;
  /** `2026-10`; `2026-10@06` begins on the 6th. */
  readonly month: string;
  /** IANA zone of the deployment's accounting, in which the month and its days begin and end. */
  readonly zone: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly closedAtMs: number;
  readonly instance: string;
  readonly currency: string;
  readonly priceVersions: readonly string[];
  /** Zone of the days where an older version took the month from the zone of a limit. */
  readonly usageZone?: string;
  readonly lines: readonly (Charged & { readonly day: string })[];
  readonly adjustments: readonly ClosedAdjustment[];
  readonly totals: ClosedTotals;
  /** The hash of the group's month before; empty: this is its first. */
  readonly previousSha256: string;
}

interface Charged {
  readonly jobs: number;
  readonly seconds: number;
  readonly micros: number;
}

export interface ClosedAdjustment extends Charged {
  /** Which month it is about, and the number of the statement that did not have it. `jobs` are beyond those of it. */
  readonly month: string;
  readonly number: number;
  readonly corrections: number;
}

interface ClosedTotals extends Charged {
  readonly corrections: number;
  readonly adjustmentMicros: number;
  readonly dueMicros: number;
}

export interface SealedStatement {
  readonly statement: ClosedStatement;
  /** JSON without spaces, names in alphabetical order: what is hashed. */
  readonly text: string;
  readonly sha256: string;
}

export function sealed(statement: ClosedStatement): SealedStatement {
  return { statement, ...sealedText(statement) };
}

export function sealedText(value: object): { readonly text: string; readonly sha256: string } {
  const text = JSON.stringify(value, inOrder);
  return { text, sha256: textSha256(text) };
}

export const textSha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/**
 * Returns the first statement of a chain that was changed. `text`: the text is not the one that was hashed. `link`: it does not name
 * the month before, or that one is gone. @param chain - all statements, by month
 */
export function chainBreak(chain: readonly SealedStatement[]) {
  let previousSha256 = '';
  for (const { statement, text, sha256 } of chain) {
    const { month, number } = statement;
    if (textSha256(text) !== sha256) return { month, number, cause: 'text' as const };
    if (statement.previousSha256 !== previousSha256) return { month, number, cause: 'link' as const };
    previousSha256 = sha256;
  }
  return undefined;
}

// Stores closed statements: one item each, its number in a list, and a register of the last number.

export type NumberedStatement = Pick<ClosedStatement, 'number' | 'subject' | 'month'> &
  Pick<SealedStatement, 'sha256'>;

export type StatementChain = ReturnType<typeof dynamoStatementChain>;

const TIMEOUT_MS = 10_000;
const LAST = 'n';
const LOOKED_AT = 'at';
const TEXT = 'tx';
const SHA256 = 'sh';
const SUBJECT = 'su';
const MONTH = 'mo';

/** Every method throws `ledger_unavailable` where the table gives no answer. */
export function dynamoStatementChain({ table, instance }: InstanceTable) {
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  const limit = (): TimeLimit => new TimeLimit(TIMEOUT_MS);
  const read = <T>(what: string, ask: () => Promise<T>): Promise<T> => answered(`read ${what}`, failure, ask);
  const registerItem = (last: number, lookedAtMs: number): Item =>
    itemAt(keys.statementRegister, {
      [LAST]: { N: String(last) },
      [LOOKED_AT]: { N: String(lookedAtMs) },
    });
  /** `lookedAtMs`: when every group was last looked at, Unix ms; 0: never. */
  const register = async () => {
    const item = await read('the register of statements', () =>
      getItem(table, keys.statementRegister, limit()),
    );
    return { last: Number(item?.[LAST]?.N ?? 0), lookedAtMs: Number(item?.[LOOKED_AT]?.N ?? 0) };
  };
  return {
    register,
    /** Notes that every group was looked at. After a concurrent closing, every group is checked again. */
    async noteLooked({ last }: { readonly last: number }, atMs: number): Promise<void> {
      await answered('write the register of statements', failure, () =>
        putItem(table, registerItem(last, atMs), limit(), isLast(last)),
      );
    },
    of: async (subject: string): Promise<readonly SealedStatement[]> => {
      const ask = { pk: keys.closedStatement(subject, '').pk, consistent: true };
      return (await read('statements', () => queryAll(table, ask, limit()))).map(decode);
    },
    async last(subject: string): Promise<SealedStatement | undefined> {
      const { pk } = keys.closedStatement(subject, '');
      const ask = { pk, consistent: true, backwards: true, pageItems: 1 } as const;
      const { items } = await read('the last statement', () => queryPage(table, ask, limit()));
      return items.map(decode)[0];
    },
    /** The numbers that begin with `from`, up to the end of their block; in their order. */
    async numbers(from: number): Promise<readonly NumberedStatement[]> {
      const ask = { pk: keys.statementNumber(from).pk, consistent: true };
      const items = await read('numbers of statements', () => queryAll(table, ask, limit()));
      return items.map(decodeNumber).filter(({ number }) => number >= from);
    },
    /** Stores it under the next number. `contended`: the number or month was taken concurrently; read again. */
    async append({ statement, text, sha256 }: SealedStatement): Promise<'written' | 'contended'> {
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
