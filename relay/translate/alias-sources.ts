import type { DescMessage } from '@bufbuild/protobuf';
import type { WantedField } from '../wire/plan.ts';
import { ALIASES, type Alias, LIST_LENGTH_MAX } from './aliases.ts';
import {
  type ListReading,
  servicesReader,
  textsReader,
  type ValueReader,
  valueReader,
} from './value-reader.ts';
import { findVariables, type MessageObject, type ResolvedPath, resolvePath } from './variables.ts';

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
    const reading = found && readingOf(alias, found);
    if (found === undefined || reading === undefined) return [];
    const { read, within } = reading;
    // One more than the bound, so that a longer list is noticed.
    const itemsMax = LIST_LENGTH_MAX + 1;
    return [
      {
        path: found.path,
        get: found.get,
        read,
        wanted: { fields: found.fields, itemsMax, within },
      },
    ];
  });
}

function readingOf({ kind }: Alias, { leaf, path }: ResolvedPath): ListReading | undefined {
  if (kind === 'services') return servicesReader(leaf);
  if (kind === 'texts') return textsReader(leaf);
  const read = valueReader(kind, leaf, path);
  return read && { read, within: [] };
}

interface FieldSources {
  readonly field: Alias['field'] | 'variables';
  readonly paths: readonly string[];
  readonly variables: readonly string[];
  readonly never: boolean;
}

/** Returns every field of the request with its sources in this schema. A source may still be empty in questions. */
export function describeAliases(
  desc: DescMessage,
  options: { readonly trustVariables: boolean },
): readonly FieldSources[] {
  const list = findVariables(desc);
  const fields = ALIASES.map((alias): FieldSources => {
    const paths = aliasSources(desc, alias).map((source) => source.path);
    const variables = alias.variables
      .filter((variable) => list !== undefined && (options.trustVariables || !variable.needsTrust))
      .map((variable) => variable.name);
    return { field: alias.field, paths, variables, never: paths.length === 0 && variables.length === 0 };
  });
  const paths = list === undefined ? [] : [list.path];
  return [...fields, { field: 'variables', paths, variables: [], never: list === undefined }];
}

export const fieldsWithoutSource = (
  desc: DescMessage,
  { trustVariables = false }: { readonly trustVariables?: boolean } = {},
): readonly string[] =>
  describeAliases(desc, { trustVariables })
    .filter(({ never }) => never)
    .map(({ field }) => field);
