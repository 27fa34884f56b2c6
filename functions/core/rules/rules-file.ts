import { readFileSync } from 'node:fs';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import {
  type DocumentProblem,
  isRecord,
  type ParseResult,
  problemText,
} from '../../../policies/document/reading.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { knowZones, type ZoneTable } from '../../../policies/limits/calendar.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Rules } from '../admission/index.ts';
import type { LiveLimits } from '../limits/index.ts';

/** A document with the short hash of its content, as the build wrote it. */
interface Versioned {
  readonly version: string;
  readonly document: unknown;
}

/** Packed with the code: policy, limits and directory, as documents. */
export interface RulesFile {
  readonly policy: Versioned;
  readonly limits: Versioned;
  readonly directory?: unknown;
  /** The clocks of every zone that the documents name. @default they are looked up when they are needed */
  readonly zones?: Readonly<Record<string, ZoneTable>>;
}

/**
 * Reads and compiles the packed rules, once per cold start. The build has compiled each pattern to accept it; here they wait for
 * the first job that needs one.
 *
 * @throws {Error} naming the file and every problem; the function then refuses to start rather than to guess.
 */
export function readRulesFile(file: string): Rules {
  const packed = JSON.parse(readFileSync(file, 'utf8')) as RulesFile;
  if (packed.zones !== undefined) knowZones(packed.zones);
  const { document, version } = packed.policy;
  const policy = compiled(parsePolicy(document, version, { wasAccepted: true }), file, 'policy');
  const limits = compiled(parseLimits(packed.limits.document, packed.limits.version, policy), file, 'limits');
  const directory =
    packed.directory === undefined
      ? undefined
      : compiled(parseDirectory(packed.directory), file, 'directory');
  return { policy, limits, directory, estimator: timeoutEstimator };
}

function compiled<T>(parsed: ParseResult<T, DocumentProblem>, file: string, part: string): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`[config_invalid] ${file}, ${part}: ${parsed.problems.map(problemText).join('; ')}`);
}

/** The prices that the build packed, as they were written. */
export function readPackedPrices(file: string): { readonly policyVersion: string; readonly text: string } {
  const { policy } = JSON.parse(readFileSync(file, 'utf8')) as RulesFile;
  const { currency, prices } = isRecord(policy.document) ? policy.document : {};
  return { policyVersion: policy.version, text: JSON.stringify({ currency, prices }) };
}

/** The limits that edits are based on. */
export type LimitsInForce = Pick<LiveLimits, 'document' | 'limits'>;

interface PackedRules {
  readonly policy: Policy;
  /** In force until a first set is live. */
  readonly limits: LimitsInForce;
  readonly directory: Directory | undefined;
}

/** Reads the packed rules, with limits as written. @throws {Error} like {@link readRulesFile} */
export function readPackedRules(file: string): PackedRules {
  const { policy, limits, directory } = readRulesFile(file);
  const packed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const written = isRecord(packed) && isRecord(packed.limits) ? packed.limits.document : undefined;
  return { policy, directory, limits: { document: isRecord(written) ? written : {}, limits } };
}
