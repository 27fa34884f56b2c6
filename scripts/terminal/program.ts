import type { Writable } from 'node:stream';
import { UsageError } from './command.ts';
import { codeOf, systemCause, systemFailure } from './user-file.ts';

/**
 * Ends the process: usage errors and `isInput` ones with 3, other failures with 1.
 *
 * @param help - the command that prints the usage.
 */
export async function runProgram(
  main: (args: readonly string[]) => Promise<number>,
  help: string,
  { usage = '', isInput = (_: Error): boolean => false } = {},
): Promise<never> {
  process.stdout.on('error', (error) => {
    if (hasReaderLeft(error)) process.exit(0);
    process.stderr.write(`stdout: ${systemCause(error)}\n`);
    process.exit(1);
  });
  // A full or closed stderr leaves the exit code.
  process.stderr.on('error', () => {});
  try {
    const args = process.argv.slice(2);
    const asksHelp = usage !== '' && args.some((arg) => arg === '--help' || arg === '-h');
    if (asksHelp) process.stdout.write(`${usage}\n`);
    const code = asksHelp ? 0 : await main(args);
    // A stream reports a failed write in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    process.exit(code);
  } catch (error) {
    const line = error instanceof Error ? error.message : String(error);
    if (error instanceof Error && (error instanceof UsageError || isInput(error))) {
      process.stderr.write(`${line}\nSee: ${help}\n`);
      process.exit(3);
    }
    const debug = process.env.TOLLGATE_DEBUG ? `${error instanceof Error ? error.stack : ''}\n` : '';
    process.stderr.write(`${systemFailure(error) ?? line}\n${debug}`);
    process.exit(1);
  }
}

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

const hasReaderLeft = (error: unknown): boolean =>
  ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(codeOf(error) ?? '');
