import { DirectoryStore } from '../directory/directory-store.ts';
import { DynamoDirectoryTable } from '../directory/dynamo-directory-table.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { DynamoLimitTable, type DynamoLimitTableOptions } from '../limits/dynamo-limit-table.ts';
import type { Log } from '../shared/log.ts';
import { readRulesFile } from './rules-file.ts';
import { type RulesInForce, rulesInForce } from './rules-in-force.ts';

export interface DeployedRules {
  /** Path of what the build packed. */
  readonly rulesFile: string;
  readonly table: DynamoLimitTableOptions;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly log: Log;
  /** Told each time that the live limits could not be read. @default nobody is */
  readonly onUnreadable?: () => void;
}

/**
 * The rules of a deployed function: packed documents, and limits and the directory from the ledger's table.
 * @throws like {@link readRulesFile}
 */
export function deployedRules({ rulesFile, table, ledger, log, onUnreadable }: DeployedRules): RulesInForce {
  const packed = readRulesFile(rulesFile);
  const directory = new DirectoryStore({
    table: new DynamoDirectoryTable(table),
    packed: packed.directory,
    clock: table.clock,
    log,
  });
  return rulesInForce(packed, {
    table: new DynamoLimitTable(table),
    ledger,
    clock: table.clock,
    log,
    directoryFor: (jobs) => directory.directoryFor(jobs),
    onUnreadable,
  });
}
