/** Price lists for a job's charge: from named documents, or stored by deployments. */
import { createHash } from 'node:crypto';
import { type AuditedPrices, priceHistory, pricesInForce } from './price-history.ts';

export interface PriceBook {
  /** The list that counted at an instant comes first; the others may have, because one took the place of another about then. */
  at(atMs: number, chargedVersion: string | undefined): readonly AuditedPrices[];
}

/** A job is priced when it is admitted, a moment before it starts. */
const ADMITTED_BEFORE_MS = 5 * 60_000;

/** @param texts - policy documents as YAML, by their names; @throws {Error} naming one that has no prices. */
export function bookOfDocuments(texts: ReadonlyMap<string, string>): PriceBook {
  const history = priceHistory(texts);
  return {
    at: (atMs, chargedVersion) => {
      // Undated lists apply to jobs that name them: documents do not show when they were deployed.
      const named = history.find(({ version, fromMs }) => version === chargedVersion && fromMs === undefined);
      return named === undefined ? aboutThen(history, atMs) : [named];
    },
  };
}

/** Stored by deployments: `text` is hashed and has the rest. */
export interface KeptPrices {
  readonly handoverMs: number;
  readonly changes: readonly { readonly text: string; readonly sha256: string }[];
  readonly editions: readonly { readonly sha256: string; readonly text: string }[];
}

interface KeptChange {
  readonly number: number;
  readonly seenAtMs: number;
  readonly editionSha256: string;
  readonly previousSha256: string;
}

interface KeptBook extends PriceBook {
  /** First sighting, Unix ms; earlier jobs use these prices. */
  readonly sinceMs: number;
  /** Editions that were read. */
  readonly editions: number;
}

/**
 * @throws {Error} where the chain of changes or a text is not as it was written, or an edition that is needed is gone.
 * @param kept - with one change at least.
 */
export function bookOfDeployments({ handoverMs, changes, editions }: KeptPrices): KeptBook {
  const chain = checkedChain(changes);
  const lists = new Map(
    editions.map(({ sha256, text }) => {
      if (sha256Of(text) !== sha256)
        throw new Error(`the kept prices ${sha256.slice(0, 12)} are not as they were written`);
      return [sha256, priceHistory(new Map([[`prices ${sha256.slice(0, 12)}`, text]]))];
    }),
  );
  const listsOf = ({ number, editionSha256 }: KeptChange): readonly AuditedPrices[] => {
    const found = lists.get(editionSha256);
    if (found === undefined) throw new Error(`the kept prices of change ${number} are gone`);
    return found;
  };
  return {
    sinceMs: chain[0]?.seenAtMs ?? 0,
    editions: editions.length,
    at: (atMs) => {
      const now = chain.findLast(({ seenAtMs }) => seenAtMs <= atMs) ?? chain[0];
      const near = chain.filter((each, index) => {
        const endMs = chain[index + 1]?.seenAtMs ?? Number.POSITIVE_INFINITY;
        return each !== now && each.seenAtMs - handoverMs <= atMs && atMs < endMs + handoverMs;
      });
      return (now === undefined ? [] : [now, ...near]).flatMap((each) => aboutThen(listsOf(each), atMs));
    },
  };
}

function checkedChain(changes: KeptPrices['changes']): readonly KeptChange[] {
  let previousSha256 = '';
  return changes.map(({ text, sha256 }, index) => {
    const change = JSON.parse(text) as KeptChange;
    const isAsWritten =
      sha256Of(text) === sha256 && change.number === index + 1 && change.previousSha256 === previousSha256;
    if (!isAsWritten) throw new Error(`change ${index + 1} of the kept prices is not as it was written`);
    previousSha256 = sha256;
    return change;
  });
}

const sha256Of = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const aboutThen = (lists: readonly AuditedPrices[], atMs: number): readonly AuditedPrices[] => [
  ...new Set(
    [pricesInForce(lists, atMs), pricesInForce(lists, atMs - ADMITTED_BEFORE_MS)].filter(
      (each) => each !== undefined,
    ),
  ),
];
