/** Price lists for a job's charge: stored by deployments, or from a policy document. Shares no code with the ledger. */
import { createHash } from 'node:crypto';
import { parse } from 'yaml';

/** Lists that may have counted at an instant. The first counted then; another one took its place about then. */
export type PriceBook = (atMs: number) => readonly AuditedPrices[];

/** A job is priced when it is admitted, a moment before it starts. */
const ADMITTED_BEFORE_MS = 5 * 60_000;

export function bookOfDocument(text: string): PriceBook {
  const lists = priceLists('the policy', text);
  return (atMs) => aboutThen(lists, atMs);
}

export interface KeptPrices {
  readonly handoverMs: number;
  readonly changes: readonly { readonly text: string; readonly sha256: string }[];
  readonly priceTexts: readonly { readonly sha256: string; readonly text: string }[];
}

interface KeptChange {
  readonly number: number;
  readonly seenAtMs: number;
  readonly editionSha256: string;
  readonly previousSha256: string;
}

/**
 * @throws {Error} where the chain of changes or a text is not as it was written, or a price list that is needed is gone.
 * @param kept - with one change at least.
 */
export function bookOfDeployments({ handoverMs, changes, priceTexts }: KeptPrices) {
  const chain = checkedChain(changes);
  const lists = new Map(
    priceTexts.map(({ sha256, text }) => {
      const name = sha256.slice(0, 12);
      if (sha256Of(text) !== sha256) throw new Error(`the kept prices ${name} are not as they were written`);
      return [sha256, priceLists(`prices ${name}`, text)];
    }),
  );
  const listsOf = ({ number, editionSha256 }: KeptChange): readonly AuditedPrices[] => {
    const found = lists.get(editionSha256);
    if (found === undefined) throw new Error(`the kept prices of change ${number} are gone`);
    return found;
  };
  const book: PriceBook = (atMs) => {
    const now = chain.findLast(({ seenAtMs }) => seenAtMs <= atMs) ?? chain[0];
    const near = chain.filter((each, index) => {
      const endMs = chain[index + 1]?.seenAtMs ?? Number.POSITIVE_INFINITY;
      return each !== now && each.seenAtMs - handoverMs <= atMs && atMs < endMs + handoverMs;
    });
    return (now === undefined ? [] : [now, ...near]).flatMap((each) => aboutThen(listsOf(each), atMs));
  };
  return { book, sinceMs: chain[0]?.seenAtMs ?? 0 };
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
  ...new Set([inForce(lists, atMs), inForce(lists, atMs - ADMITTED_BEFORE_MS)].flatMap((each) => each ?? [])),
];

export type AuditedPrices = ReturnType<typeof listOf>;

type Fields = Readonly<Record<string, unknown>>;

function priceLists(name: string, text: string): readonly AuditedPrices[] {
  const { prices } = (parse(text) ?? {}) as Fields;
  const lists = (Array.isArray(prices) ? prices : [prices]) as readonly (Fields | undefined)[];
  return lists.map((list) => {
    if (list === undefined || !Array.isArray(list.classes)) throw new Error(`${name}: has no prices`);
    return listOf(list, list.classes);
  });
}

const listOf = (list: Fields, classes: readonly Fields[]) => ({
  version: String(list.version),
  fromMs: list.from === undefined ? Number.NEGATIVE_INFINITY : instantOf(String(list.from)),
  defaultClass: String(list.default_class),
  classes: classes.map((each) => ({
    name: String(each.name),
    tags: (each.tags ?? []) as readonly string[],
    runnerIds: (each.runner_ids ?? []) as readonly number[],
    microsPerMinute: microsIn(String(each.rate_per_minute ?? 0)),
    wholeMinutes: each.round === 'minute',
    /** It has rates for requested resources, which GitLab's API does not return. */
    byRequest: each.rate_per_cpu_hour !== undefined || each.rate_per_gib_hour !== undefined,
  })),
});

const instantOf = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text);

function microsIn(text: string): bigint {
  const [whole = '0', places = ''] = Number(text).toFixed(6).split('.');
  return BigInt(whole) * 1_000_000n + BigInt(places);
}

/** The list that was in force, else the first. Of several without a date the last one counts. */
const inForce = (lists: readonly AuditedPrices[], atMs: number): AuditedPrices | undefined =>
  lists
    .filter(({ fromMs }) => fromMs <= atMs)
    .toSorted((a, b) => a.fromMs - b.fromMs || 0)
    .at(-1) ?? lists[0];

/** The first class that lists the runner, or whose tags the runner has all of; else the class of all others. */
export function classFor(
  { classes, defaultClass }: AuditedPrices,
  runner: { readonly runnerId: number; readonly runnerTags: readonly string[] },
) {
  const own = classes.find(
    ({ tags, runnerIds }) =>
      runnerIds.includes(runner.runnerId) ||
      (tags.length > 0 && tags.every((tag) => runner.runnerTags.includes(tag))),
  );
  return own ?? classes.find(({ name }) => name === defaultClass);
}

/** Begun seconds count whole; what is less than a micro-unit counts as one. */
export function chargeOf(microsPerMinute: bigint, wholeMinutes: boolean, seconds: number): bigint {
  const whole = BigInt(Math.ceil(Math.max(0, seconds)));
  return wholeMinutes ? microsPerMinute * ((whole + 59n) / 60n) : (microsPerMinute * whole + 59n) / 60n;
}
