import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { RulesFile } from '../functions/admit/rules-file.ts';
import { readDirectory, readLimits, readPolicy } from './policy/read-documents.ts';

/**
 * Packs the reviewed documents for the functions and the relay: the YAML as JSON with the hash of its content.
 *
 * @throws {Error} listing every problem of every document: what is invalid never gets packed.
 */
export function packRules(root: string): RulesFile {
  const files = {
    policy: `${root}policies/policy.yaml`,
    limits: `${root}policies/limits.yaml`,
    directory: `${root}policies/directory.yaml`,
  };
  const policy = readPolicy(files.policy);
  const limits = readLimits(files.limits, policy);
  readDirectory(files.directory);
  return {
    policy: { version: policy.version, document: documentOf(files.policy) },
    limits: { version: limits.version, document: documentOf(files.limits) },
    directory: documentOf(files.directory),
  };
}

const documentOf = (file: string): unknown => parse(readFileSync(file, 'utf8'));
