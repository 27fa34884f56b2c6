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
import type { RouterResponse } from '../exchange.ts';
import { RelayError } from '../relay-error.ts';

const REMEDY =
  'get the schema of your GitLab with `tollgate gitlab descriptors --ref <tag>` and give it with --proto or TOLLGATE_PROTO_FILE';

interface AnswerSchema {
  readonly answer: DescMessage;
  readonly source: string;
}

/** @throws {RelayError} `schema_invalid` naming message, field and remedy, if the answer message has no place for it. */
export function encodeResponse(schema: AnswerSchema, given: RouterResponse): Uint8Array {
  const { outcome } = given;
  const { fields, typeName } = schema.answer;
  const field = fields.find(({ name }) => name === outcome);
  if (field?.fieldKind !== 'message')
    throw missing(schema, `has no message field "${outcome}" in ${typeName}`);
  const variant = reflect(field.message);
  if (given.outcome === 'rejected') {
    const reason = field.message.fields.find(({ name }) => name === 'reason');
    if (reason?.fieldKind !== 'scalar' || reason.scalar !== ScalarType.STRING)
      throw missing(schema, `has no string field "reason" in ${field.message.typeName}`);
    variant.set(reason, given.reason);
  }
  const answer = reflect(schema.answer);
  answer.set(field, variant);
  try {
    return toBinary(schema.answer, answer.message);
  } catch (cause) {
    throw missing(schema, `has a field "${outcome}" in ${typeName} that cannot be encoded`, cause);
  }
}

const missing = ({ source }: AnswerSchema, problem: string, cause?: unknown): RelayError =>
  schemaError(source, `${problem}; ${REMEDY}`, cause);

export type WireSchema = ReturnType<typeof parseSchema>;

const DEFAULT_DESCRIPTORS = new URL('./default.binpb', import.meta.url);

/**
 * Loads a descriptor set from a file, or the placeholder.
 *
 * @throws {RelayError} `schema_invalid`: unreadable, not a descriptor set, or incomplete. The message names the remedy.
 */
export function loadSchema(file?: string): WireSchema {
  const source = file ?? 'built-in descriptors';
  if (file?.endsWith('.proto')) {
    const command = `npx @bufbuild/buf build ${shellWord(file)} -o gitlab.binpb`;
    throw schemaError(source, `is a .proto source; compile it first: ${command}`);
  }
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file ?? DEFAULT_DESCRIPTORS);
  } catch (cause) {
    throw schemaError(source, 'cannot be read; check the path given with --proto', cause);
  }
  return parseSchema(bytes, source);
}

export function parseSchema(bytes: Uint8Array, source: string) {
  let registry: FileRegistry;
  try {
    registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  } catch (cause) {
    const problem = 'is not a complete FileDescriptorSet; build it with `buf build -o gitlab.binpb`';
    throw schemaError(source, problem, cause);
  }
  const admitJob = findMethod(registry, 'RunnerControllerService', 'AdmitJob');
  if (admitJob === undefined)
    throw schemaError(
      source,
      'has no RunnerControllerService.AdmitJob; is it of gitlab-agent 18.7 or newer?',
    );
  const register = findMethod(registry, 'AgentRegistrar', 'Register');
  const unregister = findMethod(registry, 'AgentRegistrar', 'Unregister');
  const hash = descriptorsHash(bytes);
  const schema = {
    /** Like the other paths: `/gitlab.agent.runner_controller.rpc.RunnerControllerService/AdmitJob`. */
    admitJobPath: methodPath(admitJob),
    registerPath: register && methodPath(register),
    unregisterPath: unregister && methodPath(unregister),
    request: admitJob.output,
    answer: admitJob.input,
    registerRequest: register?.input,
    source,
    hash,
    /** The field numbers are guesses of this repository. They match its local router only. */
    placeholder: hash === PLACEHOLDER_HASH,
    registry,
  };
  // A schema that cannot carry one of them is found now, and not with the first job that needs it.
  encodeResponse(schema, { outcome: 'admitted' });
  encodeResponse(schema, { outcome: 'rejected', reason: 'a reason' });
  return schema;
}

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

export const schemaError = (source: string, problem: string, cause?: unknown): RelayError =>
  new RelayError('schema_invalid', `${source} ${problem}`, { cause });

/** Encodes a message by field names, without fields that this schema lacks. For registration. */
export const encodeKnown = (desc: DescMessage, values: Readonly<Record<string, unknown>>): Uint8Array =>
  toBinary(desc, known(desc, values));

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

const HASH_DIGITS = 12;

/** The hash of `default.binpb`, which has GitLab's field names under guessed numbers. */
export const PLACEHOLDER_HASH = '5453ef1563f1';

export const descriptorsHash = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS);
