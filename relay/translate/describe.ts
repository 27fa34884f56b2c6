import type { DescMessage } from '@bufbuild/protobuf';
import { aliasSources } from './alias-sources.ts';
import { ALIASES, type Alias } from './aliases.ts';
import type { TranslatorOptions } from './translator.ts';
import { findVariables } from './variables.ts';

/** Where a field of the admission request can come from, for `doctor`. */
interface FieldSources {
  readonly field: Alias['field'] | 'variables';
  /** Paths of the schema, best first, e.g. `job_info.project_id`. */
  readonly paths: readonly string[];
  /** Variables that stand in where no path has a value. */
  readonly variables: readonly string[];
  /** No source at all: rules that need this field can never fire. */
  readonly never: boolean;
}

/** Every field of the admission request with its sources in this schema. Whether they are filled, a question shows. */
export function describeAliases(
  desc: DescMessage,
  options: Pick<TranslatorOptions, 'trustVariables'>,
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

/** Fields that no question can fill under these descriptors. */
export const fieldsWithoutSource = (
  desc: DescMessage,
  { trustVariables = false }: Partial<Pick<TranslatorOptions, 'trustVariables'>> = {},
): readonly string[] =>
  describeAliases(desc, { trustVariables })
    .filter(({ never }) => never)
    .map(({ field }) => field);
