import type { ServiceRequest } from '../../policies/request/request.ts';
import {
  type RunnerVariable,
  type RunnerVariables,
  runnerVariables,
} from '../../policies/variables/runner-variables.ts';
import { type Fate, readValue, type VariableFlags } from './kept-variables.ts';
import type { MessageObject, ValueForPod, VariablesField } from './variables.ts';

/** Expands references in a job as the runner will, with the job's own variables. These stay in the relay. */
interface Resolution {
  readonly resolve: RunnerVariables['resolve'];
  readonly valueForPod: ValueForPod;
  /** Returns the variable as the job gets it: the last one of that name. */
  readonly received: (name: string) => ReceivedVariable | undefined;
}

interface ReceivedVariable {
  readonly flags: VariableFlags;
  /** Undefined if it is unknown. */
  readonly value: string | undefined;
}

/** Reads the variables of a question on the first reference, because most jobs have none. */
export function resolutionOf(field: VariablesField | undefined, question: MessageObject): Resolution {
  let read: { readonly variables: Received; readonly runner: RunnerVariables } | undefined;
  const known = () => {
    if (read === undefined) {
      const variables = field === undefined ? new Map() : receivedVariables(field, question);
      read = { variables, runner: runnerVariables((name) => variables.get(name)?.variable()) };
    }
    return read;
  };
  return {
    resolve: (text, passes) => (text.includes('$') ? known().runner.resolve(text, passes) : text),
    received(name) {
      const { runner, variables } = known();
      const entry = variables.get(name);
      return entry && { flags: entry.flags, value: runner.valueFor(name) };
    },
    valueForPod(variable) {
      const { runner, variables } = known();
      const refersToKnown = (variable.value.match(/\w+/g) ?? []).some((name) => variables.has(name));
      return runner.resolveOwn(variable) ?? (refersToKnown ? undefined : variable.value);
    },
  };
}

/** By name. Values are decoded on demand. */
type Received = ReadonlyMap<
  string,
  { readonly flags: VariableFlags; readonly variable: () => RunnerVariable }
>;

/** The last variable of a name wins, as in the runner. Hidden values are unknown. */
function receivedVariables(field: VariablesField, question: MessageObject): Received {
  const variables: Map<string, { flags: VariableFlags; variable: () => RunnerVariable }> = new Map();
  const entries = field.list(question);
  for (const entry of Array.isArray(entries) ? (entries as readonly MessageObject[]) : []) {
    const name = field.key(entry);
    if (typeof name !== 'string') continue;
    const flags = field.flags(entry);
    variables.set(name, { flags, variable: () => receivedVariable(field, entry, flags) });
  }
  return variables;
}

function receivedVariable(
  field: VariablesField,
  entry: MessageObject,
  { masked, file, public: isPublic }: VariableFlags,
): RunnerVariable {
  const hidden = masked === true || file === true || (masked === undefined && isPublic !== true);
  const value = hidden ? undefined : readValue(field.value(entry));
  return { value: typeof value === 'string' ? value : undefined, raw: field.raw(entry) };
}

/** The variables that rules compare. */
interface ComparedVariables {
  /** The variables that leave the relay, compared ones with the value that the job gets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Compared ones that are set to a hidden or unknown value. */
  readonly hidden: readonly string[];
}

const NONE: readonly string[] = [];

/**
 * Adds the variables that rules compare. They are read by name, so no flood of others displaces them. A hidden one is reported: to a
 * rule an absent one is not set.
 *
 * @param contested - names that came twice with different values, so GitLab's own value is unknown.
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
  // `fromEntries` defines own properties, so a variable may be called `__proto__`.
  return { variables: Object.fromEntries(variables), hidden };
}

type Resolve = RunnerVariables['resolve'];
/** The texts of a request that the runner expands before its executor reads them. */
type Containers = { image?: unknown; dockerUser?: unknown; kubernetesUser?: unknown; services?: unknown };

/**
 * Expands variables in the image names and users of a request as the runner will, so an allow list judges what the runner starts.
 * An unknown value stays as written, with its `$`, which no rule allows.
 */
export function resolveContainers(request: Containers, resolve: Resolve): void {
  resolveField(request, 'image', resolve, 2);
  resolveUsers(request, resolve);
  if (!Array.isArray(request.services)) return;
  request.services = request.services.map((service: ServiceRequest) => {
    const resolved = { ...service, name: resolve(service.name, 1) || service.name };
    resolveUsers(resolved, resolve);
    return resolved;
  });
}

function resolveUsers(container: Containers, resolve: Resolve): void {
  resolveField(container, 'dockerUser', resolve, 1);
  resolveField(container, 'kubernetesUser', resolve, 1);
}

/** An empty text is dropped, because the runner then uses its default. */
function resolveField(
  container: Containers,
  name: 'image' | 'dockerUser' | 'kubernetesUser',
  resolve: Resolve,
  passes: 1 | 2,
): void {
  const text = container[name];
  if (typeof text !== 'string') return;
  const resolved = resolve(text, passes);
  if (resolved === '') delete container[name];
  else if (resolved !== undefined) container[name] = resolved;
}
