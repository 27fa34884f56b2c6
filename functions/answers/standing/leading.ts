/** Which of a group's budgets stands for it: what rejects jobs before what only watches. */
import type { Mode } from '../../../policies/mode.ts';

/** Those that reject jobs; where there are none, those that only watch; where there are none, those that are off. */
export function leading<Each>(all: readonly Each[], modeOf: (each: Each) => Mode): readonly Each[] {
  const modes = all.map(modeOf);
  const strongest = (['enforce', 'warn', 'off'] as const).find((mode) =>
    modes.some((each) => rank(each) === mode),
  );
  return all.filter((_, index) => rank(modes[index] ?? 'off') === strongest);
}

/** `warn` is shadow that notifies the owner: neither rejects. */
const rank = (mode: Mode): Mode => (mode === 'shadow' ? 'warn' : mode);
