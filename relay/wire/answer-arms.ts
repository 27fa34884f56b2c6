/** The two arms of our answer, found by name, and the check that a schema can carry both. */
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

/** What of a schema an answer is made of. */
interface AnswerSchema {
  readonly answer: DescMessage;
  readonly source: string;
}

type ArmName = 'admitted' | 'rejected';

/** Not ASCII alone: text that a field cannot hold whole does not come back. */
const SAMPLE_REASON = 'The budget of acme is used up: 1 200 €.';
const REMEDY =
  'get the schema of your GitLab with `npm run proto:sync -- --ref <tag>` and give it with --proto or TOLLGATE_PROTO_FILE';

/** Encodes `admitted`. @throws {RelayError} `schema_invalid` if the answer message has no such arm. */
export function encodeAdmitted(schema: AnswerSchema): Uint8Array {
  return toBinary(schema.answer, armOf(schema, 'admitted', undefined));
}

/** Encodes `rejected` with its reason. Throws as {@link encodeAdmitted}. */
export function encodeRejected(schema: AnswerSchema, reason: string): Uint8Array {
  return toBinary(schema.answer, armOf(schema, 'rejected', reason));
}

/**
 * Encodes both answers and reads them back, so that a schema which cannot carry one of them is found when it is loaded
 * and not with the first job that needs it.
 *
 * @throws {RelayError} `schema_invalid` naming message, field and remedy.
 */
export function checkAnswerArms(schema: AnswerSchema): void {
  checkArm(schema, 'admitted', encodeAdmitted);
  const rejected = checkArm(schema, 'rejected', (of) => encodeRejected(of, SAMPLE_REASON));
  const { field, reasonField } = armFields(schema, 'rejected');
  const reason = reasonField && reflect(field.message, rejected).get(reasonField);
  if (reason !== SAMPLE_REASON) throw armError(schema, 'rejected', 'does not bring its reason back');
}

/** The arm's message as it is read back. */
function checkArm(
  schema: AnswerSchema,
  name: ArmName,
  encode: (schema: AnswerSchema) => Uint8Array,
): Message {
  let answer: Message;
  try {
    answer = fromBinary(schema.answer, encode(schema));
  } catch (cause) {
    if (cause instanceof RelayError) throw cause;
    throw armError(schema, name, 'cannot be encoded', cause);
  }
  const read = reflect(schema.answer, answer);
  const set = schema.answer.fields.filter((field) => read.isSet(field)).map((field) => field.name);
  if (set.join() !== name) throw armError(schema, name, `is read back as ${set.join(' and ') || 'nothing'}`);
  return read.get(armFields(schema, name).field).message;
}

function armOf(schema: AnswerSchema, name: ArmName, reason: string | undefined): Message {
  const { field, reasonField } = armFields(schema, name);
  const arm = reflect(field.message);
  if (reason !== undefined && reasonField !== undefined) arm.set(reasonField, reason);
  const answer = reflect(schema.answer);
  answer.set(field, arm);
  return answer.message;
}

/** The field of the answer that is this arm, and for `rejected` the field inside of it that takes the reason. */
function armFields(
  schema: AnswerSchema,
  name: ArmName,
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

const armError = (schema: AnswerSchema, arm: ArmName, problem: string, cause?: unknown): RelayError =>
  missing(schema, `has a field "${arm}" in ${schema.answer.typeName} that ${problem}`, cause);

const missing = ({ source }: AnswerSchema, problem: string, cause?: unknown): RelayError =>
  new RelayError('schema_invalid', `${source} ${problem}; ${REMEDY}`, { cause });
