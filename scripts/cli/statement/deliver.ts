import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';

/** To the terminal, or into a file. @throws {UsageError} if the file cannot be written. */
export async function deliver(text: string, out: string | undefined, io: TerminalIo): Promise<void> {
  if (out === undefined) return io.out(text);
  const file = resolve(io.cwd, out);
  await writeFile(file, text).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--out "${out}": could not be written (${error.code ?? error.message})`);
  });
  io.err(`${file} written\n`);
}
