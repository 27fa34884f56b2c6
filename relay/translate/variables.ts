import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { type MessageObject, resolvePath } from './field-path.ts';
import { KeptVariables } from './kept-variables.ts';
import { TEXT_LENGTH_MAX } from './text-length.ts';
import { type Fate, isServiceVariable, type VariableFlags } from './variable-allowlist.ts';

/** The variables of one job that somebody here may look at. */
export interface SeenVariables {
  /** Survivors of the allowlist. */
  readonly kept: ReadonlyMap<string, string>;
  /** What GitLab itself set for the names in the alias table. */
  readonly aliased: ReadonlyMap<string, string>;
  /** Names of the alias table that came twice with different values: somebody set them by hand. */
  readonly contested: ReadonlySet<string>;
}

/** Where a schema keeps a job's variables. */
export interface VariablesField {
  readonly path: string;
  readonly list: (message: MessageObject) => unknown;
  readonly key: (entry: MessageObject) => unknown;
  readonly value: (entry: MessageObject) => unknown;
  readonly flags: (entry: MessageObject) => VariableFlags;
}

/** Finds the repeated `{key, value, public, masked, file}` of a schema, if it has one. */
export function findVariables(desc: DescMessage): VariablesField | undefined {
  const found = resolvePath(desc, 'variables') ?? resolvePath(desc, 'job_info.variables');
  if (found?.leaf.fieldKind !== 'list' || found.leaf.listKind !== 'message') return undefined;
  const entry = found.leaf.message;
  const key = resolvePath(entry, 'key') ?? resolvePath(entry, 'name');
  const value = resolvePath(entry, 'value');
  if (key === undefined || value === undefined || !isString(key.leaf) || !isString(value.leaf))
    return undefined;
  const isPublic = flag(entry, 'public');
  const masked = flag(entry, 'masked');
  const file = flag(entry, 'file');
  return {
    path: found.path,
    list: found.get,
    key: key.get,
    value: value.get,
    flags: (message) => ({ public: isPublic(message), masked: masked(message), file: file(message) }),
  };
}

/** Reads a job's variables once; `undefined` when none came, which is what a GitLab that does not send them looks like. */
export function readVariables(
  field: VariablesField,
  message: MessageObject,
  fateOf: (name: string, flags: VariableFlags) => Fate,
  aliasedNames: ReadonlySet<string>,
): SeenVariables | undefined {
  const entries = field.list(message);
  // Every job has predefined variables, so an empty list says that they were left out, not that none is set.
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const kept = new KeptVariables();
  const aliased = new Map<string, string>();
  const contested = new Set<string>();
  const first = new Map<string, unknown>();
  for (const entry of entries as readonly MessageObject[]) {
    const name = field.key(entry);
    if (typeof name !== 'string') continue;
    const value = field.value(entry) ?? '';
    const flags = field.flags(entry);
    const short = typeof value === 'string' && value.length <= TEXT_LENGTH_MAX;
    if (aliasedNames.has(name)) {
      if (first.has(name) && first.get(name) !== value) contested.add(name);
      first.set(name, value);
      if (short && isPlain(flags)) aliased.set(name, value);
    }
    kept.put(name, value, fateOf(name, flags));
  }
  // Which of two is GitLab's own cannot be told, so neither is believed.
  for (const name of contested) {
    kept.forget(name);
    aliased.delete(name);
  }
  return { kept: kept.all(), aliased, contested };
}

/** Reads a service's own variables; `undefined` when none came. */
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
    kept.put(name, field.value(entry) ?? '', isServiceVariable(name, field.flags(entry)) ? 'keep' : 'drop');
  }
  return Object.fromEntries(kept.all());
}

/** As GitLab's own variables are: public where the schema can say so, never masked, never a file. */
const isPlain = (flags: VariableFlags): boolean =>
  flags.public !== false && flags.masked !== true && flags.file !== true;

function flag(entry: DescMessage, name: string): (message: MessageObject) => boolean | undefined {
  const found = resolvePath(entry, name);
  if (found?.leaf.fieldKind !== 'scalar' || found.leaf.scalar !== ScalarType.BOOL) return () => undefined;
  return (message) => found.get(message) === true;
}

const isString = (field: DescField): boolean =>
  field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
