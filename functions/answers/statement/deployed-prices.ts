/** The prices that counted in a span of time, as they were deployed: what an auditor recomputes charges from. */
import type { SealedPriceChange } from '../../core/statements/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import type { DeployedPrices } from './price-model.ts';

/**
 * While a deployment is under way programs of both decide, and the change is noted a quarter of an hour after it at most; the rest is
 * for a run that fails, and for relays, which are replaced last.
 */
const HANDOVER_MS = 3_600_000;

/** For users who see everything; undefined: prices are not stored here. @throws {LedgerError} */
export const deployedPricesOf =
  ({ books }: Pick<ReadContext, 'books'>) =>
  async (fromMs: number, untilMs: number): Promise<DeployedPrices | undefined> => {
    const kept = books?.prices;
    if (kept === undefined) return undefined;
    const changes = await kept.changes();
    const wanted = [...new Set(countedIn(changes, fromMs, untilMs))];
    const editions: DeployedPrices['editions'][number][] = [];
    for (const sha256 of wanted) {
      const text = await kept.text(sha256);
      if (text !== undefined) editions.push({ sha256, text });
    }
    return {
      handoverMs: HANDOVER_MS,
      changes: changes.map(({ change, text, sha256 }) => ({ ...change, text, sha256 })),
      editions,
    };
  };

/** The first also stands for what was before it. */
function countedIn(
  changes: readonly SealedPriceChange[],
  fromMs: number,
  untilMs: number,
): readonly string[] {
  return changes.flatMap(({ change: { seenAtMs, editionSha256 } }, index) => {
    const endMs = changes[index + 1]?.change.seenAtMs ?? Number.POSITIVE_INFINITY;
    const isBegun = index === 0 || seenAtMs - HANDOVER_MS < untilMs;
    return isBegun && endMs + HANDOVER_MS > fromMs ? [editionSha256] : [];
  });
}
