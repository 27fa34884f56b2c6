import type { Directory } from '../../../policies/place/directory.ts';
import { chainBreak, type NumberedStatement } from '../../core/statements/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { billedGroup } from './billed-group.ts';
import type { ClosedMonths, StatementNumbers } from './closed-model.ts';

/** A block of the list of numbers is a page. */
const NUMBERS_A_PAGE = 1000;

/**
 * Undefined: the group does not exist or is not visible, or months are not closed here. @throws
 * {LedgerError}
 */
export const closedMonthsOf =
  ({ places, books }: ReadContext) =>
  async (group: string, viewer: Viewer): Promise<ClosedMonths | undefined> => {
    const { directory } = (await places()) ?? NOWHERE;
    const scope = scopeOf(viewer.roles, directory);
    const { subject, label } = billedGroup(group, directory);
    if (books?.chain === undefined || subject === undefined) return undefined;
    if (!scope.seesAll && !scope.sees(subject)) return undefined;
    const chain = await books.chain.of(subject);
    const broken = chainBreak(chain);
    return {
      group: label,
      statements: chain.map(({ statement, sha256 }) => ({ ...statement, sha256 })),
      ...(broken !== undefined && { broken }),
    };
  };

/** For users who see everything; undefined: months are not closed here. @throws {LedgerError} */
export const statementNumbersOf =
  ({ places, books }: ReadContext) =>
  async (from: number): Promise<StatementNumbers | undefined> => {
    const chain = books?.chain;
    if (chain === undefined) return undefined;
    const { directory } = (await places()) ?? NOWHERE;
    const [found, { last }] = await Promise.all([chain.numbers(from), chain.register()]);
    const next = nextPage(from);
    return { numbers: found.map(withGroup(directory)), last, ...(next <= last && { next }) };
  };

/** The latest closed months, newest first; for users who see everything. @throws {LedgerError} */
export const lastStatementsOf =
  ({ places, books }: Pick<ReadContext, 'places' | 'books'>) =>
  async (atMost: number): Promise<StatementNumbers['numbers']> => {
    const chain = books?.chain;
    if (chain === undefined) return [];
    const [{ last }, { directory } = NOWHERE] = await Promise.all([chain.register(), places()]);
    const from = Math.max(1, last - atMost + 1);
    const next = nextPage(from);
    const pages = await Promise.all([chain.numbers(from), next <= last ? chain.numbers(next) : []]);
    return pages.flat().map(withGroup(directory)).toReversed().slice(0, atMost);
  };

/** The first number of the block after a number's. */
const nextPage = (number: number): number => (Math.floor(number / NUMBERS_A_PAGE) + 1) * NUMBERS_A_PAGE;

const withGroup =
  ({ groupById }: Directory) =>
  (each: NumberedStatement): StatementNumbers['numbers'][number] => {
    const group = groupById.get(Number(each.subject.slice('group/'.length)))?.path;
    return { ...each, ...(group !== undefined && { group }) };
  };
