import { createInterface } from 'node:readline/promises';

/** Undefined: there is no terminal. */
export type Confirmation = (question: string) => Promise<boolean | undefined>;

/** Asks on the terminal; anything but `yes` is no. */
export const confirmOnTerminal: Confirmation = async (question) => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${question} Type yes: `)).trim().toLowerCase() === 'yes';
  } finally {
    terminal.close();
  }
};
