import type { Directory } from '../../policies/directory.ts';
import type { LimitSet } from '../../policies/limits.ts';
import { parseDirectory } from '../../policies/parse-directory.ts';
import { parseLimits } from '../../policies/parse-limits.ts';
import { parsePolicy } from '../../policies/parse-policy.ts';
import type { DocumentProblem, Parsed } from '../../policies/parsed.ts';
import type { Policy } from '../../policies/policy.ts';
import { contentHash } from './content-hash.ts';
import { DocumentError, readYaml } from './yaml-document.ts';

export { DocumentError } from './yaml-document.ts';

/** @throws {DocumentError} listing every problem as `file:line:col path: message`. */
export function readPolicy(file: string): Policy {
  return read(file, (value) => parsePolicy(value, contentHash(value)));
}

/**
 * @param directory - lets the check of counters per job know which groups are above which.
 * @throws {DocumentError} listing every problem as `file:line:col path: message`.
 */
export function readLimits(file: string, policy: Policy, directory?: Directory): LimitSet {
  return read(file, (value) => parseLimits(value, contentHash(value), policy, directory));
}

/** @throws {DocumentError} listing every problem as `file:line:col path: message`. */
export function readDirectory(file: string): Directory {
  return read(file, parseDirectory);
}

function read<Model>(file: string, parse: (value: unknown) => Parsed<Model, DocumentProblem>): Model {
  const document = readYaml(file);
  const parsed = parse(document.value);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map(document.locate));
  return parsed.value;
}
