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
  ({ books }: ReadContext) =>
  async (from: number): Promise<StatementNumbers | undefined> => {
    if (books?.chain === undefined) return undefined;
    const [numbers, { last }] = await Promise.all([books.chain.numbers(from), books.chain.register()]);
    const next = (Math.floor(from / NUMBERS_A_PAGE) + 1) * NUMBERS_A_PAGE;
    return { numbers, last, ...(next <= last && { next }) };
  };
