/** Changes that change nothing anybody could see, and why. */
import { changeText, type MutantChange } from './try-changes.ts';

interface HarmlessChange {
  readonly source: string;
  /** As the report prints it. */
  readonly change: string;
  readonly why: string;
}

export const HARMLESS_CHANGES: readonly HarmlessChange[] = [
  {
    source: 'relay/commit/lanes.ts',
    change: 'lanes.size < JOINED_LANES_MAX → lanes.size <= JOINED_LANES_MAX',
    why: 'a bound of memory: one lane more does no harm',
  },
  {
    source: 'relay/commit/lanes.ts',
    change: 'index < text.length → index <= text.length',
    why: 'another hash, and as good a one',
  },
];

export const isHarmless = (mutant: MutantChange): boolean =>
  HARMLESS_CHANGES.some((each) => isOf(each, mutant));

/** What is listed and no change of these files any more, or two of them: nobody can tell which was meant. */
export function misnamedHarmless(all: readonly MutantChange[]): readonly string[] {
  return HARMLESS_CHANGES.flatMap((each) => {
    const times = all.filter((mutant) => isOf(each, mutant)).length;
    return times === 1 ? [] : [`${each.source} ${each.change} is there ${times} times`];
  });
}

const isOf = ({ source, change }: HarmlessChange, mutant: MutantChange): boolean =>
  source === mutant.source && change === changeText(mutant);
