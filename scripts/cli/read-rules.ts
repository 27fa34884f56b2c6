import { readWholeDirectory } from '../../functions/core/directory/directory-part.ts';
import type { DirectoryTable } from '../../functions/core/directory/directory-table.ts';
import type { LimitTable } from '../../functions/core/limits/limit-table.ts';
import type { Directory } from '../../policies/directory.ts';
import { parseLimits, STORED } from '../../policies/document/parse-limits.ts';
import { problemText } from '../../policies/document/reading.ts';
import type { Policy } from '../../policies/policy.ts';
import { readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';
import { DocumentError, type TerminalIo } from '../terminal/command.ts';
import { readLiveSet } from './limits/live-set.ts';
import type { LedgerAccess } from './open-ledger.ts';
import { type RulesFlags, rulesFiles } from './rules-flags.ts';

export type FileRules = ReturnType<typeof readRules>;

/** @throws {DocumentError} with the problems of the first document that is invalid. */
export function readRules(flags: RulesFlags, io: Pick<TerminalIo, 'cwd' | 'root'>) {
  const files = rulesFiles(flags, io);
  const policy = readPolicy(files.policy);
  const directory = readDirectory(files.directory);
  return { policy, directory, limits: readLimits(files.limits, policy, directory) };
}

const TIMEOUT_MS = 15_000;

/** The groups of a named file, else the last ones that GitLab listed; the project's until there are any. */
export async function directoryInForce(
  flags: RulesFlags,
  groups: DirectoryTable | undefined,
  io: Pick<TerminalIo, 'cwd' | 'root'>,
): Promise<Directory> {
  const synced = flags.directory === undefined ? groups : undefined;
  const whole = synced && (await readWholeDirectory(synced, { timeoutMs: TIMEOUT_MS }));
  return whole?.directory ?? readDirectory(rulesFiles(flags, io).directory);
}

/** This policy, with published limits and stored groups of the table unless files are named. @throws {DocumentError} also if they do not fit. */
export async function openRulesInForce(
  flags: RulesFlags,
  { limits, directory: groups }: Pick<LedgerAccess, 'limits' | 'directory'>,
  io: Pick<TerminalIo, 'cwd' | 'root'>,
): Promise<FileRules> {
  const files = rulesFiles(flags, io);
  const policy = readPolicy(files.policy);
  const directory = await directoryInForce(flags, groups, io);
  const live = flags.limits === undefined ? await liveLimits(policy, directory, limits) : undefined;
  return { policy, directory, limits: live ?? readLimits(files.limits, policy, directory) };
}

/** Undefined: no set is live. @throws {DocumentError} if the live limits do not fit this policy. */
export async function liveLimits(policy: Policy, directory: Directory, table: LimitTable | undefined) {
  const live = table && (await readLiveSet(table));
  if (live === undefined) return undefined;
  const { set } = live.pointer;
  const parsed = parseLimits(live.document, set, policy, directory, STORED);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map((each) => `set ${set}: ${problemText(each)}`));
  return parsed.value;
}
