/** Enough for a hint on one line. */
const NEAREST_MAX = 3;

/** The patterns that share most of their text with what was asked for, best first: usually a wrong tag or host. */
export function nearestPatterns(text: string, patterns: readonly string[]): readonly string[] {
  const wanted = pairsOf(text);
  return patterns
    .map((pattern) => ({ pattern, likeness: likeness(wanted, pairsOf(pattern)) }))
    .sort((a, b) => b.likeness - a.likeness || (a.pattern < b.pattern ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ pattern }) => pattern);
}

/** The share of neighbouring characters that both have (Dice's coefficient). */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared += 1;
  return a.size + b.size === 0 ? 0 : (2 * shared) / (a.size + b.size);
}

function pairsOf(text: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}
