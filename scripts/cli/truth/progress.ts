import type { LedgerStore, StoredItem } from '../../../functions/core/ledger/store.ts';
import type { TerminalIo } from '../../terminal/command.ts';
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
