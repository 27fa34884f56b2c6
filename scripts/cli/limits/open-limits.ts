import {
  type DirectoryTable,
  DynamoDirectoryTable,
  readWholeDirectory,
} from '../../../functions/core/directory/index.ts';
import { systemClock } from '../../../functions/core/environment/index.ts';
import { DynamoLimitTable, type LimitTable } from '../../../functions/core/limits/index.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { readDirectory } from '../../policy/read-documents.ts';
import { standIn, type TerminalIo } from '../../terminal/command.ts';
import type { LedgerFlags } from '../ledger/ledger-flags.ts';
import { openTableAccess } from '../ledger/open-ledger.ts';
import { type RulesFlags, rulesFiles } from '../rules-flags.ts';

/** Limit sets of a ledger. */
interface LimitsAccess {
  readonly table: LimitTable;
  /** The groups they are about; absent: only files know them. */
  readonly directory?: DirectoryTable;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  readonly close: () => Promise<void>;
}

export type OpenLimits = (flags: LedgerFlags, io: Pick<TerminalIo, 'env' | 'root'>) => Promise<LimitsAccess>;

/** If the SDK repeated a publication, its own first try would look like a conflict. */
const ATTEMPTS_MAX = 1;

/** Opens the limits of the ledger in the flags. @throws like `openLedger` */
export const openLimits: OpenLimits = async (flags, io) => {
  const { table, instance, description, close } = await openTableAccess(flags, io, ATTEMPTS_MAX);
  const parts = { table, instance, clock: systemClock, random: Math.random };
  return {
    table: new DynamoLimitTable(parts),
    directory: new DynamoDirectoryTable(parts),
    description,
    close,
  };
};

/** No job waits for it. */
const TIMEOUT_MS = 15_000;

/**
 * The groups that limits are placed by: those of a file that was named, else what GitLab said last, as for jobs, and the
 * packed ones until it has said anything.
 *
 * @throws {DocumentError} {DirectoryError}
 */
export async function limitsDirectoryOf(
  { directory: table }: Pick<LimitsAccess, 'directory'>,
  flags: RulesFlags,
  io: Pick<TerminalIo, 'cwd' | 'root'>,
): Promise<Directory> {
  const synced = flags.directory === undefined ? table : undefined;
  const whole = synced && (await readWholeDirectory(synced, { timeoutMs: TIMEOUT_MS }));
  return whole?.directory ?? readDirectory(rulesFiles(flags, io).directory);
}

/** Opens, runs and always closes. */
export async function withOpenLimits<T>(
  flags: LedgerFlags,
  io: TerminalIo,
  ask: (limits: LimitsAccess) => Promise<T>,
): Promise<T> {
  const limits = await standIn(io, openLimits)(flags, io);
  try {
    return await ask(limits);
  } finally {
    await limits.close();
  }
}
