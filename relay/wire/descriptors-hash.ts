import { createHash } from 'node:crypto';

/** Enough to tell descriptor sets apart, short enough for a line of a log and a label. */
const HASH_DIGITS = 12;

/** The descriptors of this repository, `default.binpb`. They name GitLab's fields under numbers that are guesses. */
export const PLACEHOLDER_HASH = '5453ef1563f1';

/** The beginning of the SHA-256 of a `FileDescriptorSet`, 12 hexadecimal digits. */
export const descriptorsHash = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS);
