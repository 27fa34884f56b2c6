import { createInterface } from 'node:readline/promises';
import type { TerminalIo } from '../../terminal/command.ts';

/** Undefined: there is no terminal. */
export type Confirmation = (question: string) => Promise<boolean | undefined>;

/** Asks for a line on the terminal. Undefined: there is no terminal. */
export async function askUser(io: Pick<TerminalIo, 'ask'>, question: string): Promise<string | undefined> {
  if (io.ask !== undefined) return io.ask(question);
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}

/** Asks for a `yes`; anything else is no. Undefined: there is no terminal. */
export async function confirmed(io: Pick<TerminalIo, 'ask'>, question: string): Promise<boolean | undefined> {
  const answer = await askUser(io, `${question} Type yes: `);
  return answer === undefined ? undefined : answer.toLowerCase() === 'yes';
}

export const confirmOnTerminal: Confirmation = (question) => confirmed({}, question);
