import { resolve } from 'node:path';
import { readWholeDirectory } from '../../functions/core/directory/directory-part.ts';
import type { DirectoryTable } from '../../functions/core/directory/directory-table.ts';
import type { Directory } from '../../policies/directory.ts';
import { parseLimits, STORED } from '../../policies/document/parse-limits.ts';
import { problemText } from '../../policies/document/reading.ts';
import { DocumentError, readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';
import type { TerminalIo } from '../terminal/command.ts';
import { text } from '../terminal/define.ts';
import { LEDGER_FLAGS, TABLE_FLAGS } from './ledger-flags.ts';
import { readLiveSet } from './limits/live-set.ts';
import type { LedgerAccess } from './open-ledger.ts';

export const RULES_FLAGS = {
  policy: text('<file>', 'the policy (default: policies/policy.yaml of this project)'),
  limits: text('<file>', 'the limits (default: policies/limits.yaml of this project)'),
  directory: text('<file>', 'groups and projects (default: policies/directory.yaml of this project)'),
};

/** The sources of an answer: a table or a console, and documents in place of the live ones. */
export const SOURCE_FLAGS = { ...LEDGER_FLAGS, ...RULES_FLAGS };
export const TABLE_SOURCE_FLAGS = { ...TABLE_FLAGS, ...RULES_FLAGS };

export type RulesFlags = Readonly<Partial<Record<keyof typeof RULES_FLAGS, string | undefined>>>;
export type FileRules = ReturnType<typeof readRules>;

/** Paths of the documents: as given, from the folder of the caller; else the project's own. */
export type RulesFiles = ReturnType<typeof rulesFiles>;

export function rulesFiles(flags: RulesFlags, io: Pick<TerminalIo, 'cwd' | 'root'>) {
  const file = (name: keyof RulesFlags): string => {
    const given = flags[name];
    return given === undefined ? `${io.root}policies/${name}.yaml` : resolve(io.cwd, given);
  };
  return { policy: file('policy'), limits: file('limits'), directory: file('directory') };
}

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
  const live = flags.limits === undefined && limits !== undefined ? await readLiveSet(limits) : undefined;
  if (live === undefined) return { policy, directory, limits: readLimits(files.limits, policy, directory) };
  const { set } = live.pointer;
  const parsed = parseLimits(live.document, set, policy, directory, STORED);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map((each) => `set ${set}: ${problemText(each)}`));
  return { policy, directory, limits: parsed.value };
}
