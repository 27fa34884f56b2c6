import type { DescMessage } from '@bufbuild/protobuf';
import type { Alias } from './aliases.ts';
import { type MessageObject, type ResolvedPath, resolvePath } from './field-path.ts';
import { servicesReader } from './services-reader.ts';
import { type ValueReader, valueReader } from './value-reader.ts';

/** One place of a schema that can fill a field. */
export interface AliasSource {
  /** As the schema spells it, e.g. `job_info.project_id`. */
  readonly path: string;
  readonly get: (message: MessageObject) => unknown;
  readonly read: ValueReader;
}

/** The paths of an alias that exist in this schema with a type that fits, best first. */
export function aliasSources(desc: DescMessage, alias: Alias): readonly AliasSource[] {
  return alias.paths.flatMap((wanted) => {
    const found = resolvePath(desc, wanted);
    const read = found && readerFor(alias, found);
    return found && read ? [{ path: found.path, get: found.get, read }] : [];
  });
}

const readerFor = ({ kind }: Alias, { leaf, path }: ResolvedPath): ValueReader | undefined =>
  kind === 'services' ? servicesReader(leaf, path) : valueReader(kind, leaf, path);
