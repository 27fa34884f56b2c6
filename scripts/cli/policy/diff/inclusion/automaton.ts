/** A pattern as a machine that walks a text character by character, in several states at once. */
export interface Automaton {
  readonly start: readonly number[];
  /** The states after a code point. */
  step(state: number, code: number): readonly number[];
  /** Whether a text may end here. */
  accepts(state: number): boolean;
  /** Code points at which an answer of `step` may change: between two of them all characters are alike. */
  readonly cuts: Iterable<number>;
}

/** More take longer than anybody waits; hand-written patterns need some thousands. */
const STEPS_MAX = 1_000_000;

/**
 * Whether every text that one pattern matches is matched by the other. Exact: looks for a text that only the first
 * matches, through all pairs of a state here and the states that are possible there. `undefined`: too large to tell.
 */
export function isIncluded(one: Automaton, other: Automaton): boolean | undefined {
  const codes = [...new Set([0, ...one.cuts, ...other.cuts])].filter((code) => code <= 0x10ffff);
  const seen = new Set<string>();
  const open: Pair[] = [];
  let steps = 0;

  const visit = (state: number, others: readonly number[]): void => {
    const key = `${state}|${others.join()}`;
    if (seen.has(key)) return;
    seen.add(key);
    open.push({ state, others });
  };
  const start = sorted(other.start);
  for (const state of one.start) visit(state, start);
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const { state, others } = pair;
    if (one.accepts(state) && !others.some((each) => other.accepts(each))) return false;
    for (const code of codes) {
      const next = one.step(state, code);
      steps += 1 + others.length;
      if (steps > STEPS_MAX) return undefined;
      if (next.length === 0) continue;
      const after = sorted(others.flatMap((each) => other.step(each, code)));
      for (const each of next) visit(each, after);
    }
  }
  return true;
}

interface Pair {
  readonly state: number;
  readonly others: readonly number[];
}

const sorted = (states: readonly number[]): readonly number[] => [...new Set(states)].sort((a, b) => a - b);
