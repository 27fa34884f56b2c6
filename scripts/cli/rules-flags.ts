import { resolve } from 'node:path';
import type { TerminalIo } from '../terminal/command.ts';
import { text } from '../terminal/define.ts';
import { LEDGER_FLAGS, TABLE_FLAGS } from './ledger-flags.ts';

export const RULES_FLAGS = {
  policy: text('<file>', 'the policy (default: policies/policy.yaml of this project)'),
  limits: text('<file>', 'the limits (default: policies/limits.yaml of this project)'),
  directory: text('<file>', 'groups and projects (default: policies/directory.yaml of this project)'),
};

/** The sources of an answer: a table or a console, and documents in place of the live ones. */
export const SOURCE_FLAGS = { ...LEDGER_FLAGS, ...RULES_FLAGS };
export const TABLE_SOURCE_FLAGS = { ...TABLE_FLAGS, ...RULES_FLAGS };

export type RulesFlags = Readonly<Partial<Record<keyof typeof RULES_FLAGS, string | undefined>>>;

/** Paths of the documents: as given, from the folder of the caller; else the project's own. */
export type RulesFiles = ReturnType<typeof rulesFiles>;

export function rulesFiles(flags: RulesFlags, io: Pick<TerminalIo, 'cwd' | 'root'>) {
  const file = (name: keyof RulesFlags): string => {
    const given = flags[name];
    return given === undefined ? `${io.root}policies/${name}.yaml` : resolve(io.cwd, given);
  };
  return { policy: file('policy'), limits: file('limits'), directory: file('directory') };
}
