import { type DirectoryTable, DynamoDirectoryTable } from '../../../functions/core/directory/index.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import type { LedgerFlags } from '../ledger/ledger-flags.ts';
import { openTableAccess, type TableAccess } from '../ledger/open-ledger.ts';

/** A directory stored with a ledger. */
interface DirectoryAccess extends Pick<TableAccess, 'instance' | 'gitlabUrl'> {
  readonly table: DirectoryTable;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  readonly close: () => Promise<void>;
}

export type OpenDirectory = (
  flags: LedgerFlags,
  io: Pick<TerminalIo, 'env' | 'root'>,
) => Promise<DirectoryAccess>;

/** A flip that the SDK repeats by itself would take its own first try for another run's. */
const ATTEMPTS_MAX = 1;

/** Opens the directory of the ledger in the flags. @throws like `openLedger` */
export const openDirectory: OpenDirectory = async (flags, io) => {
  const opened = await openTableAccess(flags, io, ATTEMPTS_MAX);
  return { ...opened, table: new DynamoDirectoryTable(opened) };
};

/** Opens, runs and always closes. */
export async function withDirectory<T>(
  open: OpenDirectory,
  flags: LedgerFlags,
  io: TerminalIo,
  ask: (directory: DirectoryAccess) => Promise<T>,
): Promise<T> {
  const directory = await open(flags, io);
  try {
    return await ask(directory);
  } finally {
    await directory.close();
  }
}
