import type { HandOutDirectory } from '../admission/index.ts';
import { DirectoryStore, DynamoDirectoryTable, directoryHandOut } from '../directory/index.ts';
import type { Log } from '../environment/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { DynamoLimitTable, type DynamoLimitTableOptions } from '../limits/index.ts';
import { readRulesFile } from './rules-file.ts';
import { type RulesInForce, rulesInForce } from './rules-in-force.ts';

interface DeployedRules {
  /** Path of the packed rules. */
  readonly rulesFile: string;
  readonly table: DynamoLimitTableOptions;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly log: Log;
  /** Called if published limits cannot be read. @default ignored */
  readonly onUnreadable?: () => void;
}

/**
 * The rules of a deployed function: packed documents, and limits and the directory from the ledger's table.
 * @throws like {@link readRulesFile}
 */
export function deployedRules({
  rulesFile,
  table,
  ledger,
  log,
  onUnreadable,
}: DeployedRules): RulesInForce & { readonly handOutDirectory: HandOutDirectory } {
  const packed = readRulesFile(rulesFile);
  const directoryTable = new DynamoDirectoryTable(table);
  const directory = new DirectoryStore({
    table: directoryTable,
    packed: packed.directory,
    clock: table.clock,
    log,
  });
  const inForce = rulesInForce(packed, {
    table: new DynamoLimitTable(table),
    ledger,
    clock: table.clock,
    log,
    directoryFor: (jobs) => directory.directoryFor(jobs),
    onUnreadable,
  });
  // Starts both reads early, for the first request; a failure is repeated by that request.
  void Promise.all([inForce.directoryFor([]), inForce.limitsFor([])]).catch(() => {});
  return { ...inForce, handOutDirectory: directoryHandOut({ table: directoryTable, clock: table.clock }) };
}
