import type { DescMessage } from '@bufbuild/protobuf';
import type { WantedField } from '../wire/plan.ts';
import type { Alias } from './aliases.ts';
import { LIST_LENGTH_MAX } from './text-length.ts';
import {
  type ListReading,
  servicesReader,
  textsReader,
  type ValueReader,
  valueReader,
} from './value-reader.ts';
import { type MessageObject, type ResolvedPath, resolvePath } from './variables.ts';

/** One place of a schema that can fill a field. */
export interface AliasSource {
  /** As the schema spells it, e.g. `job_info.project_id`. */
  readonly path: string;
  readonly get: (message: MessageObject) => unknown;
  readonly read: ValueReader;
  /** What must be decoded of a question for it. */
  readonly wanted: WantedField;
}

/** The paths of an alias that exist in this schema with a type that fits, best first. */
export function aliasSources(desc: DescMessage, alias: Alias): readonly AliasSource[] {
  return alias.paths.flatMap((wanted) => {
    const found = resolvePath(desc, wanted);
    const reading = found && readingOf(alias, found);
    if (found === undefined || reading === undefined) return [];
    const { read, within } = reading;
    // One more than is read: that there are too many must show.
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
