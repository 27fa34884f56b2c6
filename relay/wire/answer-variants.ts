/** Encodes the two variants of the answer, found by name, and checks that a schema can carry both. */
import {
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { RelayError } from '../relay-error.ts';

interface AnswerSchema {
  readonly answer: DescMessage;
  readonly source: string;
}

type VariantName = 'admitted' | 'rejected';

/** More than ASCII, to find a field that cannot hold every text. */
const SAMPLE_REASON = 'The budget of acme is used up: 1 200 €.';
const REMEDY =
  'get the schema of your GitLab with `npm run proto:sync -- --ref <tag>` and give it with --proto or TOLLGATE_PROTO_FILE';

/** @throws {RelayError} `schema_invalid` if the answer message has no such variant. */
export function encodeAdmitted(schema: AnswerSchema): Uint8Array {
  return toBinary(schema.answer, variantOf(schema, 'admitted', undefined));
}

/** Throws as {@link encodeAdmitted}. */
export function encodeRejected(schema: AnswerSchema, reason: string): Uint8Array {
  return toBinary(schema.answer, variantOf(schema, 'rejected', reason));
}

/**
 * Encodes both answers and reads them back, so a schema that cannot carry one of them is found at the start and not with the
 * first job that needs it.
 *
 * @throws {RelayError} `schema_invalid` naming message, field and remedy.
 */
export function checkAnswerVariants(schema: AnswerSchema): void {
  checkVariant(schema, 'admitted', encodeAdmitted);
  const rejected = checkVariant(schema, 'rejected', (of) => encodeRejected(of, SAMPLE_REASON));
  const { field, reasonField } = variantFields(schema, 'rejected');
  const reason = reasonField && reflect(field.message, rejected).get(reasonField);
  if (reason !== SAMPLE_REASON) throw variantError(schema, 'rejected', 'does not bring its reason back');
}

/** Returns the variant's message as it is read back. */
function checkVariant(
  schema: AnswerSchema,
  name: VariantName,
  encode: (schema: AnswerSchema) => Uint8Array,
): Message {
  let answer: Message;
  try {
    answer = fromBinary(schema.answer, encode(schema));
  } catch (cause) {
    if (cause instanceof RelayError) throw cause;
    throw variantError(schema, name, 'cannot be encoded', cause);
  }
  const read = reflect(schema.answer, answer);
  const set = schema.answer.fields.filter((field) => read.isSet(field)).map((field) => field.name);
  if (set.join() !== name)
    throw variantError(schema, name, `is read back as ${set.join(' and ') || 'nothing'}`);
  return read.get(variantFields(schema, name).field).message;
}

function variantOf(schema: AnswerSchema, name: VariantName, reason: string | undefined): Message {
  const { field, reasonField } = variantFields(schema, name);
  const variant = reflect(field.message);
  if (reason !== undefined && reasonField !== undefined) variant.set(reasonField, reason);
  const answer = reflect(schema.answer);
  answer.set(field, variant);
  return answer.message;
}

/** Finds the field of a variant, and for `rejected` the field of its reason. */
function variantFields(
  schema: AnswerSchema,
  name: VariantName,
): {
  readonly field: DescField & { readonly fieldKind: 'message' };
  readonly reasonField: DescField | undefined;
} {
  const field = schema.answer.fields.find((candidate) => candidate.name === name);
  if (field?.fieldKind !== 'message')
    throw missing(schema, `has no message field "${name}" in ${schema.answer.typeName}`);
  if (name === 'admitted') return { field, reasonField: undefined };
  const reasonField = field.message.fields.find((candidate) => candidate.name === 'reason');
  if (reasonField?.fieldKind !== 'scalar' || reasonField.scalar !== ScalarType.STRING)
    throw missing(schema, `has no string field "reason" in ${field.message.typeName}`);
  return { field, reasonField };
}

const variantError = (
  schema: AnswerSchema,
  variant: VariantName,
  problem: string,
  cause?: unknown,
): RelayError =>
  missing(schema, `has a field "${variant}" in ${schema.answer.typeName} that ${problem}`, cause);

const missing = ({ source }: AnswerSchema, problem: string, cause?: unknown): RelayError =>
  new RelayError('schema_invalid', `${source} ${problem}; ${REMEDY}`, { cause });
