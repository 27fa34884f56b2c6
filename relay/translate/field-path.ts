import type { DescField, DescMessage } from '@bufbuild/protobuf';

/** A decoded message: protobuf-es keeps fields as plain properties under their local names. */
export type MessageObject = Readonly<Record<string, unknown>>;

/** A path found in a schema: the leaf's descriptor and a way to its value, `undefined` when anything on the way is unset. */
export interface ResolvedPath {
  /** As the schema spells it, e.g. `job_info.project_id`. */
  readonly path: string;
  /** The fields on the way, the leaf last. */
  readonly fields: readonly DescField[];
  readonly leaf: DescField;
  readonly get: (message: MessageObject) => unknown;
}

/** Finds `job_info.project_id` in a message, whatever the schema's spelling of it. Done once per schema, not per job. */
export function resolvePath(desc: DescMessage, path: string): ResolvedPath | undefined {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = desc;
  for (const segment of path.split('.')) {
    const field: DescField | undefined = at?.fields.find(
      (candidate) => spelling(candidate.name) === spelling(segment),
    );
    if (field === undefined) return undefined;
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

/** One property, or nothing if it is not set. Zero values without presence are left to the reader of the kind. */
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
  // An unset property with explicit presence may still show a default through the prototype.
  return (message) => (Object.hasOwn(message, name) ? message[name] : undefined);
}

/** `FieldPresence.IMPLICIT` of google/protobuf/descriptor.proto: a zero value cannot be told from an unset one. */
const IMPLICIT = 2;

/** Whether the wire can tell "set to the zero value" from "not set". */
export const hasPresence = (field: DescField): boolean => field.presence !== IMPLICIT;

/** `job_info`, `jobInfo` and `JobInfo` are one name. */
const spelling = (name: string): string => name.replaceAll('_', '').toLowerCase();
