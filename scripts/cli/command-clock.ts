import { isAlive, ledgerFolder, ledgerNowMs, readLedgerNote } from '../local/ledger-note.ts';
import type { Command, TerminalIo } from '../terminal/command.ts';
import { type LedgerFlags, TABLE_FLAGS } from './ledger-flags.ts';

/** Returns the ledger's clock: the local one runs faster during `npm start`. */
export function commandClock(
  { flags, parse }: Pick<Command, 'flags' | 'parse'>,
  args: readonly string[],
  io: Pick<TerminalIo, 'nowMs' | 'root'>,
): () => number {
  const { ledger, gitlab, instance }: LedgerFlags = parse(args).flags;
  const isLocal = ledger === undefined ? flags.ledger === TABLE_FLAGS.ledger : ledger === 'local';
  const note = isLocal ? readLedgerNote(ledgerFolder(io.root)) : undefined;
  const host = instance ?? (gitlab === undefined ? undefined : URL.parse(gitlab)?.hostname);
  if (note === undefined || (host !== undefined && host !== note.instance)) return io.nowMs;
  return () => ledgerNowMs(note, io.nowMs(), isAlive(note.pid));
}
