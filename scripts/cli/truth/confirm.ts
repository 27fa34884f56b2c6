import { createInterface } from 'node:readline/promises';
import { standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';

/** Reads one line. Undefined: there is no terminal. */
export async function askOnTerminal(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}

/** Asks for a `yes`; anything else is no. Undefined: there is no terminal. */
export async function confirmed(
  io: Pick<TerminalIo, 'standIns'>,
  question: string,
): Promise<boolean | undefined> {
  const answer = await standIn(io, askOnTerminal)(`${question} Type yes: `);
  return answer === undefined ? undefined : answer.toLowerCase() === 'yes';
}

/** @param remedy - where there is no terminal. @returns true to go on; a no is printed. @throws {UsageError} */
export async function agreedTo(io: TerminalIo, question: string, remedy: string): Promise<boolean> {
  const agreed = await confirmed(io, question);
  if (agreed === undefined) throw new UsageError(remedy);
  if (!agreed) io.err('Nothing was written.\n');
  return agreed;
}
