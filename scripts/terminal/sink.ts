import type { Writable } from 'node:stream';
import { codeOf, systemCause } from './system-failure.ts';

/** After the first failure the rest is dropped. A reader that left (`tollgate … | head`) is no failure. */
export function sink(stream: Writable, onFailure: (line: string) => void): (text: string) => void {
  let isOpen = true;
  stream.on('error', (error) => {
    if (isOpen && !hasReaderLeft(error)) onFailure(`stdout: ${systemCause(error)}\n`);
    isOpen = false;
  });
  return (text) => {
    if (isOpen) stream.write(text);
  };
}

export const hasReaderLeft = (error: unknown): boolean =>
  ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(codeOf(error) ?? '');
