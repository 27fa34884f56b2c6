import type { VariableAllowlist } from '../../../policies/policy.ts';
import {
  isServiceVariable,
  KeptVariables,
  type VariableFlags,
  variableAllowlist,
} from '../../../relay/translate/kept-variables.ts';
import { withCompared } from '../../../relay/translate/variables.ts';

import { runnerVariablesOf } from '../pipeline/variables.ts';

type Variables = Readonly<Record<string, string>>;

interface AllowedVariables {
  /** As the relay passes them on: some with their value hidden. */
  readonly kept: Variables;
  readonly hidden: readonly string[];
  /** Names that do not leave the relay: no rule sees them. */
  readonly dropped: readonly string[];
}

/** Values from files and flags are public; project settings are unknown here. */
const PUBLIC: VariableFlags = { public: true, masked: false, file: false };

export function allowedVariables(
  variables: Variables,
  allowlist: VariableAllowlist,
  raw?: ReadonlySet<string>,
): AllowedVariables {
  const fateOf = variableAllowlist(allowlist);
  const kept = new KeptVariables();
  const dropped: string[] = [];
  for (const [name, value] of Object.entries(variables)) {
    const fate = fateOf(name, PUBLIC);
    kept.put(name, value, fate);
    if (fate === 'drop') dropped.push(name);
  }
  const { valueFor } = runnerVariablesOf(variables, raw);
  const received = (name: string) =>
    Object.hasOwn(variables, name) ? { flags: PUBLIC, value: valueFor(name) } : undefined;
  const all = withCompared(kept.all(), allowlist.compared, received, fateOf, new Set());
  return { kept: all.variables, hidden: all.hidden, dropped };
}

export function allowedServiceVariables(variables: Variables): Variables {
  const kept = new KeptVariables();
  for (const [name, value] of Object.entries(variables))
    kept.put(name, value, isServiceVariable(name, PUBLIC) ? 'keep' : 'drop');
  return Object.fromEntries(kept.all());
}
