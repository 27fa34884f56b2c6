import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import type { ServiceRequest } from '../../policies/request/request.ts';
import {
  type RunnerVariable,
  type RunnerVariables,
  runnerVariables,
} from '../../policies/variables/runner-variables.ts';
import { isGroup, isScalar, type WantedField } from '../wire/plan.ts';
import {
  type Fate,
  isActedOn,
  isEmptyValue,
  isServiceVariable,
  KeptVariables,
  type RawValue,
  readValue,
  sameValue,
  type VariableFlags,
  type VariableValue,
} from './kept-variables.ts';

export interface SeenVariables {
  readonly kept: ReadonlyMap<string, string>;
  /** Values that GitLab set for the names in the alias table. */
  readonly aliased: ReadonlyMap<string, string>;
  /** Names of the alias table that came twice with different values, so a user set one. */
  readonly contested: ReadonlySet<string>;
}

/**
 * Expands the value of a variable that the Kubernetes executor acts on. References to unknown names stay as written, because most are
 * set nowhere and become empty. Returns undefined if it refers to a hidden value.
 */
export type ValueForPod = (variable: {
  readonly value: string;
  readonly raw: boolean | undefined;
}) => string | undefined;

export type VariablesField = NonNullable<ReturnType<typeof findVariables>>;

export function findVariables(desc: DescMessage) {
  const found = resolvePath(desc, 'variables') ?? resolvePath(desc, 'job_info.variables');
  if (found?.leaf.fieldKind !== 'list' || found.leaf.listKind !== 'message') return undefined;
  const entry = found.leaf.message;
  const key = resolvePath(entry, 'key') ?? resolvePath(entry, 'name');
  const value = resolvePath(entry, 'value');
  if (key === undefined || value === undefined || !isString(key.leaf) || !isString(value.leaf))
    return undefined;
  const flags = ['public', 'masked', 'file', 'raw'].map((name) => booleanField(entry, name));
  const [isPublic, masked, file, raw] = flags.map(flag) as [Flag, Flag, Flag, Flag];
  const eager = [key, ...flags].filter((each) => each !== undefined);
  return {
    path: found.path,
    list: found.get,
    key: hasPresence(key.leaf) ? key.get : (message: MessageObject): unknown => key.get(message) ?? '',
    value: (message: MessageObject) => value.get(message) as RawValue,
    flags: (message: MessageObject): VariableFlags => ({
      public: isPublic(message),
      masked: masked(message),
      file: file(message),
    }),
    /** Returns true if references in the value are not expanded, undefined if the schema lacks the flag. */
    raw,
    wanted: {
      fields: found.fields,
      within: [...eager.map(({ fields }) => ({ fields })), { fields: value.fields, lazy: true }],
    } satisfies WantedField,
  };
}

export function readJobVariables(
  field: VariablesField,
  message: MessageObject,
  fateOf: (name: string, flags: VariableFlags) => Fate,
  aliasedNames: ReadonlySet<string>,
  valueForPod: ValueForPod,
): SeenVariables | undefined {
  const entries = field.list(message);
  // Every job has predefined variables, so an empty list means that GitLab did not send them.
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const kept = new KeptVariables();
  const aliased = new Map<string, string>();
  const contested = new Set<string>();
  const first = new Map<string, VariableValue>();
  for (const entry of entries as readonly MessageObject[]) {
    const name = field.key(entry);
    if (typeof name !== 'string') continue;
    const raw = field.value(entry);
    const flags = field.flags(entry);
    if (aliasedNames.has(name)) {
      const value = readValue(raw);
      const before = first.get(name);
      if (before !== undefined && !sameValue(before, value)) contested.add(name);
      first.set(name, value);
      if (typeof value === 'string' && isPlain(flags)) aliased.set(name, value);
    }
    const fate = fateOf(name, flags);
    if (fate === 'keep' && isActedOn(name)) putActedOn(kept, name, raw, field.raw(entry), valueForPod);
    else putVariable(kept, name, raw, fate);
  }
  // GitLab's own value is unknown, so neither is used.
  for (const name of contested) {
    kept.forget(name);
    aliased.delete(name);
  }
  return { kept: kept.all(), aliased, contested };
}

export function readServiceVariables(
  field: VariablesField,
  service: MessageObject,
): Readonly<Record<string, string>> | undefined {
  const entries = field.list(service);
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const kept = new KeptVariables();
  for (const entry of entries as readonly MessageObject[]) {
    const name = field.key(entry);
    if (typeof name !== 'string') continue;
    const fate = isServiceVariable(name, field.flags(entry)) ? 'keep' : 'drop';
    putVariable(kept, name, field.value(entry), fate);
  }
  return Object.fromEntries(kept.all());
}

/** Reads a value only if it may leave the relay. Of a hidden one it notes only if it is empty. */
function putVariable(kept: KeptVariables, name: string, raw: RawValue, fate: Fate): void {
  if (fate === 'keep') kept.put(name, readValue(raw), fate);
  else kept.put(name, isEmptyValue(raw) ? '' : undefined, fate);
}

/** Rules judge the value as the Kubernetes executor reads it. An unknown value is hidden. */
function putActedOn(
  kept: KeptVariables,
  name: string,
  received: RawValue,
  raw: boolean | undefined,
  valueForPod: ValueForPod,
): void {
  const value = readValue(received);
  const refers = typeof value === 'string' && value.includes('$');
  const resolved = refers ? valueForPod({ value, raw }) : value;
  kept.put(name, resolved, resolved === undefined ? 'hide' : 'keep');
}

/** GitLab's own variables are public (if the schema has the flag), never masked and never a file. */
const isPlain = (flags: VariableFlags): boolean =>
  flags.public !== false && flags.masked !== true && flags.file !== true;

type Flag = (message: MessageObject) => boolean | undefined;

const flag = (found: ResolvedPath | undefined): Flag =>
  found === undefined ? () => undefined : (message) => found.get(message) === true;

function booleanField(entry: DescMessage, name: string): ResolvedPath | undefined {
  const found = resolvePath(entry, name);
  return found !== undefined && isScalar(found.leaf, ScalarType.BOOL) ? found : undefined;
}

const isString = (field: DescField): boolean => isScalar(field, ScalarType.STRING);

/** A decoded message. Fields are plain properties under their local names, as in protobuf-es. */
export type MessageObject = Readonly<Record<string, unknown>>;

export interface ResolvedPath {
  readonly path: string;
  readonly fields: readonly DescField[];
  readonly leaf: DescField;
  readonly get: (message: MessageObject) => unknown;
}

/** Finds `job_info.project_id` in a message in any spelling. Runs once per schema. */
export function resolvePath(desc: DescMessage, path: string): ResolvedPath | undefined {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = desc;
  for (const segment of path.split('.')) {
    const field: DescField | undefined = at?.fields.find(
      (candidate) => spelling(candidate.name) === spelling(segment),
    );
    if (field === undefined || isGroup(field)) return undefined;
    fields.push(field);
    at = field.fieldKind === 'message' ? field.message : undefined;
  }
  const leaf = fields.at(-1);
  if (leaf === undefined) return undefined;
  const [first, ...rest] = fields.map(propertyGetter);
  if (first === undefined) return undefined;
  return { path: fields.map((field) => field.name).join('.'), fields, leaf, get: rest.reduce(chain, first) };
}

type Getter = (message: MessageObject) => unknown;

const chain =
  (outer: Getter, inner: Getter): Getter =>
  (message) => {
    const between = outer(message);
    return between === undefined ? undefined : inner(between as MessageObject);
  };

/** Returns one property, or undefined if it is not set. The reader of the kind handles zero values without presence. */
function propertyGetter(field: DescField): Getter {
  const name = field.localName;
  if (field.oneof !== undefined) {
    const group = field.oneof.localName;
    return (message) => {
      const chosen = message[group] as { readonly case?: string; readonly value?: unknown } | undefined;
      return chosen?.case === name ? chosen.value : undefined;
    };
  }
  if (!hasPresence(field)) return (message) => message[name];
  // The prototype may hold a default for an unset property with explicit presence.
  return (message) => (Object.hasOwn(message, name) ? message[name] : undefined);
}

/** `FieldPresence.IMPLICIT` of google/protobuf/descriptor.proto: a zero value looks like an unset one. */
const IMPLICIT = 2;

export const hasPresence = (field: DescField): boolean => field.presence !== IMPLICIT;

/** `job_info`, `jobInfo` and `JobInfo` are one name. */
const spelling = (name: string): string => name.replaceAll('_', '').toLowerCase();

/**
 * Expands references in a job as the runner will, with the job's own variables. These stay in the relay. They are read on the first
 * reference, because most jobs have none.
 */
export function resolutionOf(field: VariablesField | undefined, message: MessageObject) {
  type Received = ReturnType<typeof receivedVariables>;
  let read: { readonly variables: Received; readonly runner: RunnerVariables } | undefined;
  const known = () => {
    if (read === undefined) {
      const variables: Received = field === undefined ? new Map() : receivedVariables(field, message);
      read = { variables, runner: runnerVariables((name) => variables.get(name)?.variable()) };
    }
    return read;
  };
  return {
    resolve: ((text, passes) =>
      text.includes('$') ? known().runner.resolve(text, passes) : text) as Resolve,
    received(name: string) {
      const { runner, variables } = known();
      const entry = variables.get(name);
      return entry && { flags: entry.flags, value: runner.valueFor(name) };
    },
    valueForPod(variable: Parameters<ValueForPod>[0]) {
      const { runner, variables } = known();
      const refersToKnown = (variable.value.match(/\w+/g) ?? []).some((name) => variables.has(name));
      return runner.resolveOwn(variable) ?? (refersToKnown ? undefined : variable.value);
    },
  };
}

/** The last variable of a name wins, as in the runner. Hidden values are unknown. */
function receivedVariables(field: VariablesField, message: MessageObject) {
  const variables = new Map<string, { flags: VariableFlags; variable: () => RunnerVariable }>();
  const entries = field.list(message);
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
  received: ReturnType<typeof resolutionOf>['received'],
  fateOf: (name: string, flags: VariableFlags) => Fate,
  contested: ReadonlySet<string>,
) {
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
type Containers = { image?: unknown; dockerUser?: unknown; kubernetesUser?: unknown; services?: unknown };

/**
 * Expands variables in the image names and users of a request as the runner will, so an allow list judges what the runner starts.
 * An unknown value stays as written, with its `$`, which no rule allows.
 */
export function resolveContainers(request: Containers, resolve: Resolve): void {
  resolveTexts(request, resolve);
  if (!Array.isArray(request.services)) return;
  request.services = request.services.map((service: ServiceRequest) => {
    const resolved = { ...service, name: resolve(service.name, 1) || service.name };
    resolveTexts(resolved, resolve);
    return resolved;
  });
}

const RESOLVED = [
  ['image', 2],
  ['dockerUser', 1],
  ['kubernetesUser', 1],
] as const;

/** An empty text is dropped, because the runner then uses its default. */
function resolveTexts(container: Containers, resolve: Resolve): void {
  for (const [name, passes] of RESOLVED) {
    const text = container[name];
    if (typeof text !== 'string') continue;
    const resolved = resolve(text, passes);
    if (resolved === '') delete container[name];
    else if (resolved !== undefined) container[name] = resolved;
  }
}
