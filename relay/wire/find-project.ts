/** The project of a question that is too large to be decoded: tags only, a bounded number of them. */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { resolveFields } from '../translate/field-path.ts';

/** What GitLab sends has some dozens before the variables; a question made of tags is looked at no further. */
const TAGS_MAX = 10_000;

/** Finds the first of `paths` that the schema has, e.g. `job_info.project_id`; the function never throws. */
export function projectFinder(
  desc: DescMessage,
  paths: readonly string[],
): (bytes: Uint8Array) => number | undefined {
  const fields = paths.map((path) => resolveFields(desc, path)).find((found) => found !== undefined);
  if (fields === undefined) return () => undefined;
  return (bytes) => {
    try {
      return find(new BinaryReader(bytes), bytes.length, fields, { left: TAGS_MAX });
    } catch {
      // Cut off or no message at all: it names no project.
      return undefined;
    }
  };
}

function find(
  reader: BinaryReader,
  end: number,
  [field, ...inner]: readonly DescField[],
  tags: { left: number },
): number | undefined {
  while (reader.pos < end && tags.left > 0) {
    tags.left -= 1;
    const [no, wireType] = reader.tag();
    if (no !== field?.number) {
      reader.skip(wireType, no);
    } else if (inner.length > 0 && wireType === WireType.LengthDelimited) {
      const length = reader.uint32();
      return find(reader, Math.min(end, reader.pos + length), inner, tags);
    } else if (inner.length === 0 && wireType === WireType.Varint) {
      const id = Number(reader.int64());
      return Number.isSafeInteger(id) && id > 0 ? id : undefined;
    } else {
      return undefined;
    }
  }
  return undefined;
}
