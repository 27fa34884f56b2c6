import { resolve } from 'node:path';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import { readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';
import type { TerminalIo } from '../terminal/command.ts';
import { flagLines } from '../terminal/define-command.ts';
import { text } from '../terminal/flags.ts';

export const RULES_FLAGS = {
  policy: text('<file>', 'the policy (default: policies/policy.yaml of this project)'),
  limits: text('<file>', 'the limits (default: policies/limits.yaml of this project)'),
  directory: text('<file>', 'groups and projects (default: policies/directory.yaml of this project)'),
};

/** For help texts that are not made from rows yet. */
export const RULES_FLAGS_HELP = flagLines(RULES_FLAGS);

export interface RulesFlags {
  readonly policy?: string | undefined;
  readonly limits?: string | undefined;
  readonly directory?: string | undefined;
}

/** The documents a question is asked of. */
export interface FileRules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory: Directory;
}

/** Paths of the documents: as given, from the folder of the caller; else the project's own. */
export interface RulesFiles {
  readonly policy: string;
  readonly limits: string;
  readonly directory: string;
}

export function rulesFiles(flags: RulesFlags, io: Pick<TerminalIo, 'cwd' | 'root'>): RulesFiles {
  const file = (name: keyof RulesFiles): string => {
    const given = flags[name];
    return given === undefined ? `${io.root}policies/${name}.yaml` : resolve(io.cwd, given);
  };
  return { policy: file('policy'), limits: file('limits'), directory: file('directory') };
}

/** @throws {DocumentError} with the problems of the first document that is invalid. */
export function readRules(flags: RulesFlags, io: Pick<TerminalIo, 'cwd' | 'root'>): FileRules {
  const files = rulesFiles(flags, io);
  const policy = readPolicy(files.policy);
  const directory = readDirectory(files.directory);
  return { policy, directory, limits: readLimits(files.limits, policy, directory) };
}
