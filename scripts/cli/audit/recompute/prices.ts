/** Price lists for a job's charge: from named documents, or stored by deployments. */
import { createHash } from 'node:crypto';
import { parse } from 'yaml';

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

/**
 * @throws {Error} where the chain of changes or a text is not as it was written, or an edition that is needed is gone.
 * @param kept - with one change at least.
 */
export function bookOfDeployments({ handoverMs, changes, editions }: KeptPrices) {
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
    at: (atMs: number) => {
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

// Price lists as policy documents say them, of today and of earlier.

interface AuditedClass {
  readonly name: string;
  readonly tags: readonly string[];
  readonly runnerIds: readonly number[];
  readonly microsPerMinute: bigint;
  /** A begun minute costs a whole one. */
  readonly wholeMinutes: boolean;
  /** It has rates for requested resources, which GitLab's API does not return. */
  readonly byRequest: boolean;
}

export interface AuditedPrices {
  readonly version: string;
  /** Unix ms; absent: from the beginning. */
  readonly fromMs?: number;
  readonly classes: readonly AuditedClass[];
  readonly defaultClass: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** @param texts - policy documents as YAML, by their names; @throws {Error} naming one that has no prices. */
function priceHistory(texts: ReadonlyMap<string, string>): readonly AuditedPrices[] {
  return [...texts].flatMap(([name, text]) => {
    const { prices } = (parse(text) ?? {}) as Fields;
    const lists = (Array.isArray(prices) ? prices : [prices]) as readonly (Fields | undefined)[];
    return lists.map((list) => {
      if (list === undefined || !Array.isArray(list.classes)) throw new Error(`${name}: has no prices`);
      return listOf(list, list.classes);
    });
  });
}

const listOf = (list: Fields, classes: readonly Fields[]): AuditedPrices => ({
  version: String(list.version),
  ...(list.from !== undefined && { fromMs: instantOf(String(list.from)) }),
  defaultClass: String(list.default_class),
  classes: classes.map((each) => ({
    name: String(each.name),
    tags: (each.tags ?? []) as readonly string[],
    runnerIds: (each.runner_ids ?? []) as readonly number[],
    microsPerMinute: microsIn(String(each.rate_per_minute ?? 0)),
    wholeMinutes: each.round === 'minute',
    byRequest: each.rate_per_cpu_hour !== undefined || each.rate_per_gib_hour !== undefined,
  })),
});

/** A day begins in UTC; an instant says its own zone. */
const instantOf = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text);

/** An exact decimal with up to six places. */
function microsIn(text: string): bigint {
  const [whole = '0', places = ''] = Number(text).toFixed(6).split('.');
  return BigInt(whole) * 1_000_000n + BigInt(places);
}

/** The list that was in force, else the first. Of several without a date the last one counts. */
function pricesInForce(history: readonly AuditedPrices[], atMs: number): AuditedPrices | undefined {
  const begun = history.filter(({ fromMs = Number.NEGATIVE_INFINITY }) => fromMs <= atMs);
  return (
    begun
      .toSorted(
        (a, b) => (a.fromMs ?? Number.NEGATIVE_INFINITY) - (b.fromMs ?? Number.NEGATIVE_INFINITY) || 0,
      )
      .at(-1) ?? history[0]
  );
}

/** The first class that lists the runner, or whose tags the runner has all of; else the class of all others. */
export function classFor(
  { classes, defaultClass }: AuditedPrices,
  runner: { readonly runnerId: number; readonly runnerTags: readonly string[] },
): AuditedClass | undefined {
  const owns = ({ tags, runnerIds }: AuditedClass): boolean =>
    runnerIds.includes(runner.runnerId) ||
    (tags.length > 0 && tags.every((tag) => runner.runnerTags.includes(tag)));
  return classes.find(owns) ?? classes.find(({ name }) => name === defaultClass);
}

/** Begun seconds count whole; what is less than a micro-unit counts as one. */
export function chargeOf(
  each: Omit<AuditedClass, 'tags' | 'runnerIds' | 'name' | 'byRequest'>,
  seconds: number,
): bigint {
  const whole = BigInt(Math.ceil(Math.max(0, seconds)));
  if (each.wholeMinutes) return each.microsPerMinute * ((whole + 59n) / 60n);
  return (each.microsPerMinute * whole + 59n) / 60n;
}
