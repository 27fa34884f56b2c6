/** Price lists as policy documents say them, of today and of earlier. */
import { parse } from 'yaml';

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
export function priceHistory(texts: ReadonlyMap<string, string>): readonly AuditedPrices[] {
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
export function pricesInForce(history: readonly AuditedPrices[], atMs: number): AuditedPrices | undefined {
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
