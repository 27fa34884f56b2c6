/** A month of a group as it was closed, its text and its hash. Pure. */
import { createHash } from 'node:crypto';
import {
  itemAt,
  putOf,
  readAll,
  readItem,
  readNewest,
  timedTable,
  transactItems,
  writeItem,
} from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import {
  absent,
  any,
  type InstanceTable,
  type Item,
  type ItemCondition,
  numberIs,
} from '../store/operation.ts';
import type { ClosedStatement } from './statement-model.ts';

export type { ClosedStatement };

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
  const timed = timedTable(table, TIMEOUT_MS);
  const registerItem = (last: number, lookedAtMs: number): Item =>
    itemAt(keys.statementRegister, {
      [LAST]: { N: String(last) },
      [LOOKED_AT]: { N: String(lookedAtMs) },
    });
  /** `lookedAtMs`: when every group was last looked at, Unix ms; 0: never. */
  const register = async () => {
    const item = await readItem(timed, 'the register of statements', keys.statementRegister);
    return { last: Number(item?.[LAST]?.N ?? 0), lookedAtMs: Number(item?.[LOOKED_AT]?.N ?? 0) };
  };
  return {
    register,
    /** Notes that every group was looked at. After a concurrent closing, every group is checked again. */
    async noteLooked({ last }: { readonly last: number }, atMs: number): Promise<void> {
      await writeItem(timed, 'the register of statements', registerItem(last, atMs), isLast(last));
    },
    of: async (subject: string): Promise<readonly SealedStatement[]> => {
      const ask = { pk: keys.closedStatement(subject, '').pk, consistent: true };
      return (await readAll(timed, 'statements', ask)).map(decode);
    },
    async last(subject: string): Promise<SealedStatement | undefined> {
      const item = await readNewest(timed, 'the last statement', keys.closedStatement(subject, '').pk);
      return item && decode(item);
    },
    /** The numbers that begin with `from`, up to the end of their block; in their order. */
    async numbers(from: number): Promise<readonly NumberedStatement[]> {
      const ask = { pk: keys.statementNumber(from).pk, consistent: true };
      const items = await readAll(timed, 'numbers of statements', ask);
      return items.map(decodeNumber).filter(({ number }) => number >= from);
    },
    /** Stores it under the next number. `contended`: the number or month was taken concurrently; read again. */
    async append({ statement, text, sha256 }: SealedStatement): Promise<'written' | 'contended'> {
      const { number, subject, month } = statement;
      const { lookedAtMs } = await register();
      const { outcome } = await timed.within('write a statement', (limit) =>
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
          limit,
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
