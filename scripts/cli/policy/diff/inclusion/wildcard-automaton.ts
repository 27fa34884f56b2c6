import { expandAlternatives } from '../../../../../policies/match/wildcard-alternatives.ts';
import { type Branch, compileBranch, SLASH } from '../../../../../policies/match/wildcard-branch.ts';
import { advanceToken, enterToken } from '../../../../../policies/match/wildcard-walk.ts';
import type { Automaton } from './automaton.ts';

/** Above twice the tokens that a pattern may have: a branch's own states go from minus to plus as many. */
const STATES_PER_BRANCH = 4_096;

/** Whatever one of these patterns matches; `undefined` if one is invalid. */
export function wildcardAutomaton(patterns: readonly string[]): Automaton | undefined {
  const branches: Branch[] = [];
  for (const pattern of patterns) {
    const expanded = expandAlternatives(pattern);
    if (!expanded.ok) return undefined;
    for (const alternative of expanded.alternatives) {
      const compiled = compileBranch(alternative);
      if (!compiled.ok) return undefined;
      branches.push(compiled.branch);
    }
  }
  const numbered = (index: number, states: ReadonlySet<number>): readonly number[] =>
    [...states].map((state) => index * STATES_PER_BRANCH + STATES_PER_BRANCH / 2 + state);
  const at = (state: number) => ({
    index: Math.floor(state / STATES_PER_BRANCH),
    own: (state % STATES_PER_BRANCH) - STATES_PER_BRANCH / 2,
  });
  return {
    start: branches.flatMap(({ tokens }, index) => {
      const states = new Set<number>();
      enterToken(0, tokens, states);
      return numbered(index, states);
    }),
    step(state, code) {
      const { index, own } = at(state);
      const next = new Set<number>();
      advanceToken(own, code, branches[index]?.tokens ?? [], next);
      return numbered(index, next);
    },
    accepts(state) {
      const { index, own } = at(state);
      return branches[index]?.mayEndAt.has(own) === true;
    },
    cuts: new Set(branches.flatMap(cutsOf)),
  };
}

const cutsOf = ({ tokens }: Branch): readonly number[] => [
  SLASH,
  SLASH + 1,
  ...tokens.flatMap((token) => {
    if (token.kind === 'character') return [token.code, token.code + 1];
    return token.kind === 'class' ? token.set.ranges.flatMap(([from, to]) => [from, to + 1]) : [];
  }),
];
