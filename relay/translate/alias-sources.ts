import type { DescMessage } from '@bufbuild/protobuf';
import type { WantedField } from '../wire/plan.ts';
import { ALIASES, type Alias, LIST_LENGTH_MAX } from './aliases.ts';
import { type ValueReader, valueReader } from './value-reader.ts';
import { findVariables, type MessageObject, resolvePath } from './variables.ts';

export interface AliasSource {
  readonly path: string;
  readonly get: (message: MessageObject) => unknown;
  readonly read: ValueReader;
  readonly wanted: WantedField;
}

/** Returns the paths of an alias that this schema has with a suitable type, best first. */
export function aliasSources(desc: DescMessage, alias: Alias): readonly AliasSource[] {
  return alias.paths.flatMap((wanted) => {
    const found = resolvePath(desc, wanted);
    const reading = found && valueReader(alias.kind, found.leaf, found.path);
    if (found === undefined || reading === undefined) return [];
    const { path, get, fields } = found;
    const { read, within = [] } = reading;
    // One more than the bound, so that a longer list is noticed.
    return [{ path, get, read, wanted: { fields, itemsMax: LIST_LENGTH_MAX + 1, within } }];
  });
}

export function describeAliases(desc: DescMessage, options: { readonly trustVariables: boolean }) {
  const list = findVariables(desc);
  const fields = ALIASES.map((alias) => ({
    field: alias.field,
    paths: aliasSources(desc, alias).map(({ path }) => path),
    variables: alias.variables
      .filter(({ needsTrust }) => list !== undefined && (options.trustVariables || !needsTrust))
      .map(({ name }) => name),
  }));
  const variables = {
    field: 'variables' as const,
    paths: list === undefined ? [] : [list.path],
    variables: [],
  };
  return [...fields, variables].map((each) => ({
    ...each,
    /** No request can have the field. A source may still be empty. */
    never: each.paths.length + each.variables.length === 0,
  }));
}

export const fieldsWithoutSource = (
  desc: DescMessage,
  { trustVariables = false }: { readonly trustVariables?: boolean } = {},
): readonly string[] =>
  describeAliases(desc, { trustVariables })
    .filter(({ never }) => never)
    .map(({ field }) => field);
