import { withoutAbsent } from '../../../policies/without-absent.ts';
import { chainBreak } from '../../core/statements/closed-statement.ts';
import { type Caller, type ReadContext, readPlaces } from '../reading/context.ts';
import { NOWHERE } from '../reading/scope.ts';
import { billedGroup } from './billed.ts';
import type { ClosedMonths, DeployedPrices, StatementNumbers } from './model.ts';

/** A block of the list of numbers is a page. */
const NUMBERS_A_PAGE = 1000;

/**
 * Undefined: the group does not exist or is not visible, or months are not closed here. @throws {LedgerError}
 */
export const closedMonthsOf =
  (reading: ReadContext) =>
  async (group: string, caller: Caller): Promise<ClosedMonths | undefined> => {
    const { directory, scope } = await readPlaces(reading, caller);
    const { subject, label } = billedGroup(group, directory);
    const chain = reading.books?.chain;
    if (chain === undefined || subject === undefined || !scope.sees(subject)) return undefined;
    const closed = await chain.of(subject);
    return {
      group: label,
      statements: closed.map(({ statement, sha256 }) => ({ ...statement, sha256 })),
      ...withoutAbsent({ broken: chainBreak(closed) }),
    };
  };

/** For callers who see everything; undefined: months are not closed here. @throws {LedgerError} */
export const statementNumbersOf =
  ({ places, books }: ReadContext) =>
  async (from: number): Promise<StatementNumbers | undefined> => {
    const chain = books?.chain;
    if (chain === undefined) return undefined;
    const { directory } = (await places()) ?? NOWHERE;
    const [found, { last }] = await Promise.all([chain.numbers(from), chain.register()]);
    const next = (Math.floor(from / NUMBERS_A_PAGE) + 1) * NUMBERS_A_PAGE;
    const numbers = found.map((each) => {
      const group = directory.groupById.get(Number(each.subject.slice('group/'.length)))?.path;
      return { ...each, ...withoutAbsent({ group }) };
    });
    return { numbers, last, ...(next <= last && { next }) };
  };

/**
 * During a deployment programs with either prices decide. The change is recorded at most a quarter of an hour later; the rest
 * covers a failed run, and relays, which are replaced last.
 */
const HANDOVER_MS = 3_600_000;

/** Prices as deployed, for audits by callers who see everything; undefined: not stored here. @throws {LedgerError} */
export const deployedPricesOf =
  ({ books }: Pick<ReadContext, 'books'>) =>
  async (fromMs: number, untilMs: number): Promise<DeployedPrices | undefined> => {
    const prices = books?.prices;
    if (prices === undefined) return undefined;
    const changes = await prices.changes();
    // The first change also covers the time before it.
    const wanted = changes.flatMap(({ change: { seenAtMs, editionSha256 } }, index) => {
      const endMs = changes[index + 1]?.change.seenAtMs ?? Number.POSITIVE_INFINITY;
      const isBegun = index === 0 || seenAtMs - HANDOVER_MS < untilMs;
      return isBegun && endMs + HANDOVER_MS > fromMs ? [editionSha256] : [];
    });
    const priceTexts: DeployedPrices['priceTexts'][number][] = [];
    for (const sha256 of new Set(wanted)) {
      const text = await prices.text(sha256);
      if (text !== undefined) priceTexts.push({ sha256, text });
    }
    return {
      handoverMs: HANDOVER_MS,
      changes: changes.map(({ change, text, sha256 }) => ({ ...change, text, sha256 })),
      priceTexts,
    };
  };
