import { isAlive, ledgerFolder, ledgerNowMs, readLedgerClock } from '../../local/ledger-folder.ts';
import type { Command, TerminalIo } from '../../terminal/command.ts';
import { LEDGER_FLAGS_HELP, TABLE_FLAGS } from './ledger-flags.ts';

/**
 * Returns the ledger's clock: the local one runs faster during `npm start`. All others use real time.
 *
 * @param args - of the command
 */
export function commandClock(
  { help, flags }: Pick<Command, 'help' | 'flags'>,
  args: readonly string[],
  io: Pick<TerminalIo, 'nowMs' | 'root'>,
): () => number {
  const ledger = flagIn(args, 'ledger');
  const isDefault =
    flags === undefined ? help.includes(LEDGER_FLAGS_HELP) : flags.ledger === TABLE_FLAGS.ledger;
  const isLocal = ledger === undefined ? isDefault : ledger === 'local';
  const note = isLocal ? readLedgerClock(ledgerFolder(io.root)) : undefined;
  const gitlab = flagIn(args, 'gitlab');
  const instance =
    flagIn(args, 'instance') ?? (gitlab === undefined ? undefined : URL.parse(gitlab)?.hostname);
  if (note === undefined || (instance !== undefined && instance !== note.instance)) return io.nowMs;
  return () => ledgerNowMs(note, io.nowMs(), isAlive(note.pid));
}

/** As `--name value` or `--name=value`; whether it is right, the command says. */
function flagIn(args: readonly string[], name: string): string | undefined {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  const at = flags.indexOf(`--${name}`);
  const joined = flags.find((each) => each.startsWith(`--${name}=`));
  return joined?.slice(name.length + 3) ?? (at === -1 ? undefined : flags[at + 1]);
}
