import { readWholeDirectory } from '../../functions/core/directory/index.ts';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { problemText } from '../../policies/document/reading.ts';
import { DocumentError, readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';
import type { TerminalIo } from '../terminal/command.ts';
import type { LedgerAccess } from './ledger/open-ledger.ts';
import { readLiveSet } from './limits/live-set.ts';
import { type FileRules, type RulesFlags, rulesFiles } from './rules-flags.ts';

/** No job waits for it. */
const TIMEOUT_MS = 15_000;

/**
 * Returns the rules in force: this policy, with published limits and stored groups of the table. Named files
 * override them; without published data the project's files apply.
 *
 * @throws {DocumentError} also if published limits do not fit the policy. {LimitsError} {DirectoryError}
 */
export async function openRulesInForce(
  flags: RulesFlags,
  { limits, directory: groups }: Pick<LedgerAccess, 'limits' | 'directory'>,
  io: Pick<TerminalIo, 'cwd' | 'root'>,
): Promise<FileRules> {
  const files = rulesFiles(flags, io);
  const policy = readPolicy(files.policy);
  const synced =
    flags.directory === undefined && groups !== undefined
      ? (await readWholeDirectory(groups, { timeoutMs: TIMEOUT_MS }))?.directory
      : undefined;
  const directory = synced ?? readDirectory(files.directory);
  const live = flags.limits === undefined && limits !== undefined ? await readLiveSet(limits) : undefined;
  if (live === undefined) return { policy, directory, limits: readLimits(files.limits, policy, directory) };
  const { set } = live.pointer;
  const parsed = parseLimits(live.document, set, policy, directory);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map((each) => `set ${set}: ${problemText(each)}`));
  return { policy, directory, limits: parsed.value };
}
