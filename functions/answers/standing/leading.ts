/** Which of a group's budgets stands for it, and which groups come first: what rejects jobs before what only watches. */
import type { Mode } from '../../../policies/mode.ts';

/** Those that reject jobs; where there are none, those that only watch; where there are none, those that are off. */
export function leading<Each>(all: readonly Each[], modeOf: (each: Each) => Mode): readonly Each[] {
  const modes = all.map(modeOf);
  const strongest = (['enforce', 'warn', 'off'] as const).find((mode) =>
    modes.some((each) => rank(each) === mode),
  );
  return all.filter((_, index) => rank(modes[index] ?? 'off') === strongest);
}

/** `warn` is shadow that tells the owner: neither rejects a job. */
const rank = (mode: Mode): Mode => (mode === 'shadow' ? 'warn' : mode);

/**
 * A group's place in the list, lowest first: whose jobs will be rejected, whose would be if it were enforced, then whoever
 * lasts.
 */
export function tier({ rejects, runsOut }: { readonly rejects: boolean; readonly runsOut: boolean }): number {
  return runsOut ? (rejects ? 0 : 1) : rejects ? 2 : 3;
}

/** Who has no budget. */
export const LAST_TIER = 4;
