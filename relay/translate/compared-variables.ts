import type { ReceivedVariable } from './resolution.ts';
import type { Fate, VariableFlags } from './variable-allowlist.ts';

/** What the rules may know of the variables they compare. */
export interface ComparedVariables {
  /** The variables that leave the relay: compared ones with the value that the job gets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Compared ones that are set, to what may not leave or nobody can tell. */
  readonly hidden: readonly string[];
}

const NONE: readonly string[] = [];

/**
 * Puts what rules compare beside the other survivors: by name, so that no flood of others pushes it out, and never
 * silently absent, which to a rule would mean that it is not set.
 *
 * @param contested - names that came twice with different values, of which GitLab's own cannot be told.
 */
export function withCompared(
  kept: ReadonlyMap<string, string>,
  names: readonly string[],
  received: (name: string) => ReceivedVariable | undefined,
  fateOf: (name: string, flags: VariableFlags) => Fate,
  contested: ReadonlySet<string>,
): ComparedVariables {
  if (names.length === 0) return { variables: Object.fromEntries(kept), hidden: NONE };
  const variables = new Map(kept);
  const hidden: string[] = [];
  for (const name of names) {
    variables.delete(name);
    const found = received(name);
    if (found === undefined) continue;
    const mayLeave = !contested.has(name) && fateOf(name, found.flags) === 'keep';
    if (mayLeave && found.value !== undefined) variables.set(name, found.value);
    else hidden.push(name);
  }
  // Defines own properties, so that a variable called `__proto__` is one and nothing else.
  return { variables: Object.fromEntries(variables), hidden };
}
