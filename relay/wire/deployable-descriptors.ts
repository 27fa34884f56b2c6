/**
 * Descriptors that a deployment may run under: those of its own GitLab. The set that comes with this repository serves the
 * local router only. Under other field numbers than GitLab's a relay misreads questions and may say "admitted" where it means
 * "rejected".
 */
import { readFileSync } from 'node:fs';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { RelayError } from '../relay-error.ts';
import { checkLock, lockedVersion, sha256Of } from './descriptors-lock.ts';
import { encodeAdmitted, encodeRejected, parseSchema } from './schema.ts';

export interface DeployableDescriptors {
  /** The file's content: a `FileDescriptorSet`. */
  readonly bytes: Uint8Array;
  /** Hash of the content, 64 hex digits. */
  readonly sha256: string;
  /**
   * In `DESCRIPTORS_FOLDER` of bundle and image. It names the content: an image can carry the descriptors of several
   * deployments, and a relay never finds other ones than those its deployment was synthesized with.
   */
  readonly fileName: string;
  /** The GitLab they are of, as their lock says: `18.9`. Undefined: it does not. */
  readonly version: string | undefined;
}

const FETCH_REMEDY = "fetch those of your GitLab's version with: npm run proto:sync -- --ref v18.9.0";

const PLACEHOLDER = new URL('./default.binpb', import.meta.url);
/** How messages about the content begin. */
const THE_FILE = 'the file';

/**
 * @throws {RelayError} `schema_invalid`: unreadable, no `FileDescriptorSet` with what the relay needs, an answer that cannot
 * be encoded, the placeholder, or not the content that its lock names. The message names the problem and the remedy, not the file.
 */
export function readDeployableDescriptors(file: string): DeployableDescriptors {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new RelayError('schema_invalid', `${THE_FILE} cannot be read; ${FETCH_REMEDY}`, { cause });
  }
  const schema = parseSchema(bytes, THE_FILE);
  try {
    encodeAdmitted(schema);
    encodeRejected(schema, 'a reason');
  } catch (cause) {
    if (cause instanceof RelayError) throw cause;
    throw new RelayError(
      'schema_invalid',
      `${THE_FILE} has an answer of another kind than "admitted" or "rejected" with a text; ${FETCH_REMEDY}`,
      { cause },
    );
  }
  if (isPlaceholder(bytes)) {
    throw new RelayError(
      'schema_invalid',
      `${THE_FILE} is the placeholder of this repository, whose field numbers are made up; ${FETCH_REMEDY}`,
    );
  }
  const sha256 = sha256Of(bytes);
  checkLock(file, sha256);
  return { bytes, sha256, fileName: `${sha256}.binpb`, version: lockedVersion(file) };
}

/** Compares content: whatever the file is called, and whether or not it was built anew with comments in it. */
function isPlaceholder(bytes: Uint8Array): boolean {
  return canonical(bytes).equals(canonical(readFileSync(PLACEHOLDER)));
}

function canonical(bytes: Uint8Array): Buffer {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  for (const file of set.file) {
    // Comments and positions, which say nothing about the wire.
    delete file.sourceCodeInfo;
    delete file.$unknown;
  }
  return Buffer.from(toBinary(FileDescriptorSetSchema, set));
}
