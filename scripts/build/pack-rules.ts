import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { RulesFile } from '../../functions/core/rules.ts';
import { isZone, zoneTable } from '../../policies/limits/calendar.ts';
import { selfLockout } from '../../policies/self-lockout.ts';
import { DocumentError, readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';

interface PackOptions {
  /** Folder with `policies/`; ends with a slash. */
  readonly root: string;
  /** Packs documents that would reject the controller's own deploy jobs. */
  readonly force: boolean;
  /** Unix ms: exemptions end. */
  readonly nowMs: number;
}

/**
 * Packs the reviewed documents for the functions and the relay: the YAML as JSON with the hash of its content.
 *
 * @throws {DocumentError} listing every problem of every document: what is invalid never gets packed.
 */
export function packRules({ root, force, nowMs }: PackOptions): RulesFile {
  const files = {
    policy: `${root}policies/policy.yaml`,
    limits: `${root}policies/limits.yaml`,
    directory: `${root}policies/directory.yaml`,
  };
  const policy = readPolicy(files.policy);
  const directory = readDirectory(files.directory);
  const limits = readLimits(files.limits, policy, directory);
  const lockout = force ? [] : selfLockout(policy, limits, directory, nowMs);
  if (lockout.length > 0) {
    throw new DocumentError(
      lockout.map((each) => `${files.policy}: ${each}; mend it, or say --force if that is meant`),
    );
  }
  const documents = {
    policy: documentOf(files.policy),
    limits: documentOf(files.limits),
    directory: documentOf(files.directory),
  };
  const zones = [...new Set(['UTC', ...zonesIn(documents)])].sort();
  return {
    policy: { version: policy.version, document: documents.policy },
    limits: { version: limits.version, document: documents.limits },
    directory: documents.directory,
    zones: Object.fromEntries(zones.map((zone) => [zone, zoneTable(zone)])),
  };
}

/** Values of `zone` keys at any depth. */
function zonesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    key === 'zone' && typeof each === 'string' && isZone(each) ? [each] : zonesIn(each),
  );
}

const documentOf = (file: string): unknown => parse(readFileSync(file, 'utf8'));
