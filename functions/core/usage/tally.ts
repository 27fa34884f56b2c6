/** Counts by name; what is not there is 0. Names are attributes of a usage item. */
export type UsageTally = ReadonlyMap<string, number>;

/** Adds into `sum`; what comes to 0 leaves it. */
export function addTo(sum: Map<string, number>, delta: UsageTally): void {
  for (const [name, count] of delta) {
    const total = (sum.get(name) ?? 0) + count;
    if (total === 0) sum.delete(name);
    else sum.set(name, total);
  }
}

/** The same with every count the other way round: what takes it out again. */
export const negated = (tally: UsageTally): UsageTally =>
  new Map([...tally].map(([name, count]) => [name, -count]));
