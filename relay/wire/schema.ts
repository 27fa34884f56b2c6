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
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { shellWord } from '../../policies/text/plain-text.ts';
import { RelayError } from '../relay-error.ts';
import { checkAnswerVariants } from './answer-variants.ts';

export { encodeAdmitted, encodeRejected } from './answer-variants.ts';

export interface WireSchema {
  /** Full method paths, e.g. `/gitlab.agent.runner_controller.rpc.RunnerControllerService/AdmitJob`. */
  readonly admitJobPath: string;
  readonly registerPath: string | undefined;
  readonly unregisterPath: string | undefined;
  /** The message from the router. */
  readonly question: DescMessage;
  /** The message to the router. */
  readonly answer: DescMessage;
  readonly registerRequest: DescMessage | undefined;
  readonly registerResponse: DescMessage | undefined;
  /** The source of the descriptors, for messages. */
  readonly source: string;
  /** {@link descriptorsHash} of the set. */
  readonly hash: string;
  /** The field numbers are guesses of this repository. They match its local router only. */
  readonly placeholder: boolean;
  /** All types of the set, for debug views. */
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
  const hash = descriptorsHash(bytes);
  const schema: WireSchema = {
    admitJobPath: methodPath(admitJob),
    registerPath: register && methodPath(register),
    unregisterPath: mapDefined(findMethod(registry, 'AgentRegistrar', 'Unregister'), methodPath),
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

const mapDefined = <T, R>(value: T | undefined, map: (value: T) => R): R | undefined =>
  value === undefined ? undefined : map(value);

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
