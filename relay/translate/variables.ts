import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { type MessageObject, resolvePath } from './field-path.ts';
import { TEXT_LENGTH_MAX } from './value-reader.ts';
import type { VariableFlags } from './variable-allowlist.ts';

/** The variables of one job that somebody here may look at. */
export interface SeenVariables {
  /** Survivors of the allowlist. */
  readonly kept: ReadonlyMap<string, string>;
  /** What GitLab itself set for the names in the alias table. */
  readonly aliased: ReadonlyMap<string, string>;
  /** Names of the alias table that came twice with different values: somebody set them by hand. */
  readonly contested: ReadonlySet<string>;
}

/** More survivors than any policy reads; a flood of allowed names must not make a request large. */
export const VARIABLES_KEPT_MAX = 128;

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
  isAllowed: (name: string, flags: VariableFlags) => boolean,
  aliasedNames: ReadonlySet<string>,
): SeenVariables | undefined {
  const entries = field.list(message);
  // Every job has predefined variables, so an empty list says that they were left out, not that none is set.
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const kept = new Map<string, string>();
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
    // The runner lets the last one win, so a later one that may not be read also hides the earlier.
    if (!short || !isAllowed(name, flags)) kept.delete(name);
    else if (kept.size < VARIABLES_KEPT_MAX || kept.has(name)) kept.set(name, value);
  }
  // Which of two is GitLab's own cannot be told, so neither is believed.
  for (const name of contested) {
    kept.delete(name);
    aliased.delete(name);
  }
  return { kept, aliased, contested };
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
