import type { Writable } from 'node:stream';

/**
 * Writes to a stream whose reader may leave (`tollgate … | head`): from then on the rest is dropped without a word, and
 * the exit code stays what the result says.
 */
export function sink(stream: Writable): (text: string) => void {
  let open = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false;
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  });
  return (text) => {
    if (open) stream.write(text);
  };
}
