import { createInterface } from 'node:readline/promises';
import { standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';

export async function askOnTerminal(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}

/** Asks for a `yes`. @param remedy - where there is no terminal. @returns true to go on; a no is printed. @throws {UsageError} */
export async function agreedTo(io: TerminalIo, question: string, remedy: string): Promise<boolean> {
  const answer = await standIn(io, askOnTerminal)(`${question} Type yes: `);
  if (answer === undefined) throw new UsageError(remedy);
  const isAgreed = answer.toLowerCase() === 'yes';
  if (!isAgreed) io.err('Nothing was written.\n');
  return isAgreed;
}
