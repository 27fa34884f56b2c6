import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type TerminalIo, UsageError } from '../terminal/command.ts';
import { text } from '../terminal/define.ts';
import { LEDGER_FLAGS, TABLE_FLAGS } from './ledger-flags.ts';

export const RULES_FLAGS = {
  policy: text('<file>', 'the policy (default: policies/policy.yaml of the current folder or clone)'),
  limits: text('<file>', 'the limits (default: policies/limits.yaml of the current folder or clone)'),
  directory: text(
    '<file>',
    'groups and projects (default: policies/directory.yaml of the current folder or clone)',
  ),
};

/** The sources of an answer: a table or a console, and documents in place of the live ones. */
export const SOURCE_FLAGS = { ...LEDGER_FLAGS, ...RULES_FLAGS };
export const TABLE_SOURCE_FLAGS = { ...TABLE_FLAGS, ...RULES_FLAGS };

export type RulesFlags = Readonly<Partial<Record<keyof typeof RULES_FLAGS, string | undefined>>>;

/** Paths of the documents: as given, from the folder of the caller; else the project's own. Each throws {UsageError} if it is neither. */
export type RulesFiles = ReturnType<typeof rulesFiles>;

export function rulesFiles(flags: RulesFlags, io: Pick<TerminalIo, 'cwd' | 'root'>) {
  const file = (name: keyof RulesFlags): string => {
    const given = flags[name];
    if (given !== undefined) return resolve(io.cwd, given);
    const own = `${io.root}policies/${name}.yaml`;
    if (existsSync(own)) return own;
    throw new UsageError(
      `${own} is not there: name one with --${name}, run this in a folder that has policies/${name}.yaml, or ask a console (--console) if the command can`,
    );
  };
  return {
    get policy() {
      return file('policy');
    },
    get limits() {
      return file('limits');
    },
    get directory() {
      return file('directory');
    },
  };
}
