import { readFileSync } from 'node:fs';
import { isRecord } from '../../../policies/document/reading.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { LiveLimits } from '../limits/index.ts';
import { readRulesFile } from './rules-file.ts';

/** What edits are planned against. */
export type LimitsInForce = Pick<LiveLimits, 'document' | 'limits'>;

interface PackedRules {
  readonly policy: Policy;
  /** In force until a first set is live. */
  readonly limits: LimitsInForce;
  readonly directory: Directory | undefined;
}

/** What the build packed, with the limits as they were written. @throws {Error} like {@link readRulesFile} */
export function readPackedRules(file: string): PackedRules {
  const { policy, limits, directory } = readRulesFile(file);
  const packed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const written = isRecord(packed) && isRecord(packed.limits) ? packed.limits.document : undefined;
  return { policy, directory, limits: { document: isRecord(written) ? written : {}, limits } };
}
