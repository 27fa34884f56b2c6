import { readFileSync } from 'node:fs';
import { parsePolicy } from '../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../policies/document/reading.ts';
import type { Policy } from '../policies/policy.ts';
import { RelayError } from './relay-error.ts';

/** What a relay keeps of the rules: enough to translate for them and to decide without counters. */
interface CachedRules {
  readonly policy: Policy;
}

/**
 * Reads the file the build packs for the functions, `{policy: {version, document}, …}`; limits are the ledger's business, and
 * a directory of the day of the deployment is none.
 *
 * @throws {RelayError} `config_invalid` naming the file and every problem in it.
 */
export function readPolicyFile(file: string): CachedRules {
  let packed: unknown;
  try {
    packed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new RelayError('config_invalid', `${file} cannot be read as JSON; build it with npm run bundle`, {
      cause,
    });
  }
  const { policy } = asRecord(packed);
  const { version, document } = asRecord(policy);
  if (typeof version !== 'string') {
    throw new RelayError('config_invalid', `${file} has no policy.version; build it with npm run bundle`);
  }
  return {
    policy: compiled(parsePolicy(document, version), file, 'policy'),
  };
}

function compiled<T>(parsed: ParseResult<T, DocumentProblem>, file: string, part: string): T {
  if (parsed.ok) return parsed.value;
  throw new RelayError('config_invalid', `${file}, ${part}: ${parsed.problems.map(problemText).join('; ')}`);
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
