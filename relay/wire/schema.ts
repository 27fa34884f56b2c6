/**
 * The wire schema is an input, because GitLab's field numbers change and are not public everywhere. The relay reads a protobuf
 * `FileDescriptorSet` and finds services, methods and messages by the last part of their names. A renamed package or a renumbered
 * field needs new descriptors, not a new release.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type DescService,
  type FileRegistry,
  fromBinary,
  type Message,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { shellWord } from '../../policies/text/plain-text.ts';
import { RelayError } from '../relay-error.ts';

interface AnswerSchema {
  readonly answer: DescMessage;
  readonly source: string;
}

type VariantName = 'admitted' | 'rejected';

const REMEDY =
  'get the schema of your GitLab with `npm run proto:sync -- --ref <tag>` and give it with --proto or TOLLGATE_PROTO_FILE';

/** @throws {RelayError} `schema_invalid` if the answer message has no such variant. */
export function encodeAdmitted(schema: AnswerSchema): Uint8Array {
  return toBinary(schema.answer, variantOf(schema, 'admitted', undefined));
}

export function encodeRejected(schema: AnswerSchema, reason: string): Uint8Array {
  return toBinary(schema.answer, variantOf(schema, 'rejected', reason));
}

/**
 * Encodes both answers, so a schema that cannot carry one of them is found at the start and not with the first job that needs it.
 *
 * @throws {RelayError} `schema_invalid` naming message, field and remedy.
 */
function checkAnswerVariants(schema: AnswerSchema): void {
  for (const name of ['admitted', 'rejected'] as const) {
    const answer = variantOf(schema, name, name === 'rejected' ? 'a reason' : undefined);
    try {
      toBinary(schema.answer, answer);
    } catch (cause) {
      throw missing(
        schema,
        `has a field "${name}" in ${schema.answer.typeName} that cannot be encoded`,
        cause,
      );
    }
  }
}

function variantOf(schema: AnswerSchema, name: VariantName, reason: string | undefined): Message {
  const { field, reasonField } = variantFields(schema, name);
  const variant = reflect(field.message);
  if (reason !== undefined && reasonField !== undefined) variant.set(reasonField, reason);
  const answer = reflect(schema.answer);
  answer.set(field, variant);
  return answer.message;
}

function variantFields(schema: AnswerSchema, name: VariantName) {
  const field = schema.answer.fields.find((candidate) => candidate.name === name);
  if (field?.fieldKind !== 'message')
    throw missing(schema, `has no message field "${name}" in ${schema.answer.typeName}`);
  if (name === 'admitted') return { field, reasonField: undefined };
  const reasonField = field.message.fields.find((candidate) => candidate.name === 'reason');
  if (reasonField?.fieldKind !== 'scalar' || reasonField.scalar !== ScalarType.STRING)
    throw missing(schema, `has no string field "reason" in ${field.message.typeName}`);
  return { field, reasonField };
}

const missing = ({ source }: AnswerSchema, problem: string, cause?: unknown): RelayError =>
  new RelayError('schema_invalid', `${source} ${problem}; ${REMEDY}`, { cause });

export interface WireSchema {
  /** Full method paths, e.g. `/gitlab.agent.runner_controller.rpc.RunnerControllerService/AdmitJob`. */
  readonly admitJobPath: string;
  readonly registerPath: string | undefined;
  readonly unregisterPath: string | undefined;
  readonly question: DescMessage;
  readonly answer: DescMessage;
  readonly registerRequest: DescMessage | undefined;
  readonly registerResponse: DescMessage | undefined;
  readonly source: string;
  readonly hash: string;
  /** The field numbers are guesses of this repository. They match its local router only. */
  readonly placeholder: boolean;
  readonly registry: FileRegistry;
}

const DEFAULT_DESCRIPTORS = new URL('./default.binpb', import.meta.url);

/**
 * Loads a descriptor set from a file, or the placeholder.
 *
 * @throws {RelayError} `schema_invalid`: unreadable, not a descriptor set, or incomplete. The message names the remedy.
 */
export function loadSchema(file?: string): WireSchema {
  const source = file ?? 'built-in descriptors';
  if (file?.endsWith('.proto')) {
    throw schemaError(
      source,
      `is a .proto source; compile it first: npx @bufbuild/buf build ${shellWord(file)} -o gitlab.binpb`,
    );
  }
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file ?? DEFAULT_DESCRIPTORS);
  } catch (cause) {
    throw schemaError(source, 'cannot be read; check the path given with --proto', cause);
  }
  return parseSchema(bytes, source);
}

/** Builds a schema from the bytes of a `FileDescriptorSet`. Throws as {@link loadSchema}. */
export function parseSchema(bytes: Uint8Array, source: string): WireSchema {
  let registry: FileRegistry;
  try {
    registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  } catch (cause) {
    throw schemaError(
      source,
      'is not a complete FileDescriptorSet; build it with `buf build -o gitlab.binpb`',
      cause,
    );
  }
  const admitJob = findMethod(registry, 'RunnerControllerService', 'AdmitJob');
  if (admitJob === undefined) {
    throw schemaError(
      source,
      'has no RunnerControllerService.AdmitJob; is it of gitlab-agent 18.7 or newer?',
    );
  }
  const register = findMethod(registry, 'AgentRegistrar', 'Register');
  const unregister = findMethod(registry, 'AgentRegistrar', 'Unregister');
  const hash = descriptorsHash(bytes);
  const schema: WireSchema = {
    admitJobPath: methodPath(admitJob),
    registerPath: register && methodPath(register),
    unregisterPath: unregister && methodPath(unregister),
    question: admitJob.output,
    answer: admitJob.input,
    registerRequest: register?.input,
    registerResponse: register?.output,
    source,
    hash,
    placeholder: hash === PLACEHOLDER_HASH,
    registry,
  };
  checkAnswerVariants(schema);
  return schema;
}

/** Returns `gitlab.binpb (a1b2c3d4e5f6)`, with a warning for the placeholder. */
export const schemaTitle = ({
  source,
  hash,
  placeholder,
}: Pick<WireSchema, 'source' | 'hash' | 'placeholder'>) =>
  `${source} (${hash}${placeholder ? ', placeholder: its field numbers are guesses' : ''})`;

function findMethod(registry: FileRegistry, service: string, method: string): DescMethod | undefined {
  const services = [...registry].filter(
    (type): type is DescService => type.kind === 'service' && lastPart(type.typeName) === service,
  );
  // GitLab's set has several registrars. The package of the generic one ends in `.rpc`.
  const preferred = services.find((type) => type.file.proto.package.endsWith('.rpc')) ?? services[0];
  return preferred?.methods.find((candidate) => candidate.name === method);
}

const lastPart = (typeName: string): string => typeName.slice(typeName.lastIndexOf('.') + 1);

const methodPath = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

const schemaError = (source: string, problem: string, cause?: unknown): RelayError =>
  new RelayError('schema_invalid', `${source} ${problem}`, { cause });

/** Encodes a message by field names, without fields that this schema lacks. For registration. */
export function encodeKnown(desc: DescMessage, values: Readonly<Record<string, unknown>>): Uint8Array {
  return toBinary(desc, known(desc, values));
}

function known(desc: DescMessage, values: Readonly<Record<string, unknown>>): Message {
  const init: Record<string, unknown> = {};
  for (const field of desc.fields) {
    const value = values[field.name];
    if (value === undefined) continue;
    init[field.localName] =
      field.fieldKind === 'message' ? known(field.message, value as Record<string, unknown>) : value;
  }
  return create(desc, init as never);
}

/** Enough to distinguish descriptor sets, short enough for a log line and a label. */
const HASH_DIGITS = 12;

/** The hash of `default.binpb`, which has GitLab's field names under guessed numbers. */
export const PLACEHOLDER_HASH = '5453ef1563f1';

/** Returns the first 12 hexadecimal digits of the SHA-256 of a `FileDescriptorSet`. */
export const descriptorsHash = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS);
