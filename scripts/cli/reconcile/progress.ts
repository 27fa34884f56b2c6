import { createInterface } from 'node:readline/promises';
import type { LedgerStore, StoredItem } from '../../../functions/core/ledger/store.ts';
import { standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { storeWith } from '../open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';

const EVERY = 1_000;

export type Progress = ReturnType<typeof progressOf>;

export function progressOf(what: string, io: Pick<TerminalIo, 'err' | 'progress'>) {
  let steps = 0;
  return {
    step: () => {
      steps += 1;
      if (io.progress && steps % EVERY === 0) io.err(`\r${shadowCount(steps)} ${what}`);
    },
    done: () => {
      if (io.progress && steps >= EVERY) io.err('\r\u001b[K');
      steps = 0;
    },
  };
}

export function watched(store: LedgerStore, progress: Progress): LedgerStore {
  async function* scan(): AsyncGenerator<StoredItem> {
    for await (const item of store.scan()) {
      progress.step();
      yield item;
    }
    progress.done();
  }
  return storeWith(store, { scan });
}

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
export async function confirmOnTerminal(io: TerminalIo, question: string, remedy: string): Promise<boolean> {
  const answer = await standIn(io, askOnTerminal)(`${question} Type yes: `);
  if (answer === undefined) throw new UsageError(remedy);
  const isAgreed = answer.toLowerCase() === 'yes';
  if (!isAgreed) io.err('Nothing was written.\n');
  return isAgreed;
}
