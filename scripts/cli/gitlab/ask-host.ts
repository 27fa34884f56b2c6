import { createInterface } from 'node:readline/promises';

/** What somebody types on the terminal; undefined: nobody is there to ask. */
export async function askHostOnTerminal(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}
