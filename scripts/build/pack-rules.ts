import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { RulesFile } from '../../functions/core/published-rules.ts';
import { isZone, zoneTable } from '../../policies/limits/calendar.ts';
import { selfLockout } from '../../policies/self-lockout.ts';
import { readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';
import { DocumentError } from '../terminal/command.ts';

/** The YAML as JSON with the hash of its content. @throws {DocumentError} listing every problem of every document */
export function packRules({
  folder = 'policies',
  force,
  nowMs,
  files = {
    policy: `${folder}/policy.yaml`,
    limits: `${folder}/limits.yaml`,
    directory: `${folder}/directory.yaml`,
  },
}: {
  readonly folder?: string;
  /** @default those of the folder */
  readonly files?: Readonly<Record<'policy' | 'limits' | 'directory', string>>;
  /** Packs documents that would reject the controller's own deploy jobs. */
  readonly force: boolean;
  readonly nowMs: number;
}): RulesFile {
  const policy = readPolicy(files.policy);
  const directory = readDirectory(files.directory);
  const limits = readLimits(files.limits, policy, directory);
  const lockout = force ? [] : selfLockout(policy, limits, directory, nowMs);
  if (lockout.length > 0) {
    throw new DocumentError(
      lockout.map((each) => `${files.policy}: ${each}; mend it, or say --force if that is meant`),
    );
  }
  const [policyText, limitsText, places] = Object.values(files).map(documentOf);
  const zones = [...new Set(['UTC', ...zonesIn([policyText, limitsText, places])])].sort();
  return {
    policy: { version: policy.version, document: policyText },
    limits: { version: limits.version, document: limitsText },
    directory: places,
    zones: Object.fromEntries(zones.map((zone) => [zone, zoneTable(zone)])),
  };
}

function zonesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    key === 'zone' && typeof each === 'string' && isZone(each) ? [each] : zonesIn(each),
  );
}

const documentOf = (file: string): unknown => parse(readFileSync(file, 'utf8'));
