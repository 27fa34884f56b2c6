import type { DescMessage } from '@bufbuild/protobuf';
import type { WantedField } from '../wire/plan.ts';
import { ALIASES, type Alias, LIST_LENGTH_MAX } from './aliases.ts';
import { type ValueReader, valueReader } from './value-reader.ts';
import { findVariables, type MessageObject, resolvePath } from './variables.ts';

export interface AliasSource {
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
    const { get, fields } = found;
    const { read, within = [] } = reading;
    // One more than the bound, so that a longer list is noticed.
    return [{ get, read, wanted: { fields, itemsMax: LIST_LENGTH_MAX + 1, within } }];
  });
}

/** Returns the fields that no request of this schema can have. A source that is there may still be empty. */
export function fieldsWithoutSource(
  desc: DescMessage,
  { trustVariables = false }: { readonly trustVariables?: boolean } = {},
): readonly string[] {
  const hasVariables = findVariables(desc) !== undefined;
  const missing = ALIASES.filter(
    (alias) =>
      aliasSources(desc, alias).length === 0 &&
      !(hasVariables && alias.variables.some(({ needsTrust }) => trustVariables || !needsTrust)),
  );
  return [...missing.map(({ field }) => field), ...(hasVariables ? [] : ['variables'])];
}
