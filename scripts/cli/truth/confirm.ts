import { createInterface } from 'node:readline/promises';
import { standIn, type TerminalIo } from '../../terminal/command.ts';

/** Undefined: there is no terminal. */
export type Confirmation = (question: string) => Promise<boolean | undefined>;

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

export const confirmOnTerminal: Confirmation = (question) => confirmed({}, question);
