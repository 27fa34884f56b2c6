import { chainBreak } from '../../core/statements/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { billedGroup } from './billed-group.ts';
import type { ClosedMonths, StatementNumbers } from './closed-model.ts';

/** A block of the list of numbers is a page. */
const NUMBERS_A_PAGE = 1000;

/** Undefined: there is no such group, it is not theirs to see, or nobody closes months here. @throws {LedgerError} */
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

/** For whoever sees everything; undefined: nobody closes months here. @throws {LedgerError} */
export const statementNumbersOf =
  ({ places, books }: ReadContext) =>
  async (from: number): Promise<StatementNumbers | undefined> => {
    const chain = books?.chain;
    if (chain === undefined) return undefined;
    const { directory } = (await places()) ?? NOWHERE;
    const [found, { last }] = await Promise.all([chain.numbers(from), chain.register()]);
    const numbers = found.map((each) => {
      const group = directory.groupById.get(Number(each.subject.slice('group/'.length)))?.path;
      return { ...each, ...(group !== undefined && { group }) };
    });
    const next = (Math.floor(from / NUMBERS_A_PAGE) + 1) * NUMBERS_A_PAGE;
    return { numbers, last, ...(next <= last && { next }) };
  };

/** The last ones that were closed, the youngest first; for whoever sees everything. @throws {LedgerError} */
export const lastStatementsOf =
  (context: ReadContext) =>
  async (atMost: number): Promise<StatementNumbers['numbers']> => {
    const register = await context.books?.chain?.register();
    if (register === undefined) return [];
    const from = Math.max(1, register.last - atMost + 1);
    const first = await statementNumbersOf(context)(from);
    const second = first?.next === undefined ? undefined : await statementNumbersOf(context)(first.next);
    return [...(first?.numbers ?? []), ...(second?.numbers ?? [])].toReversed().slice(0, atMost);
  };
