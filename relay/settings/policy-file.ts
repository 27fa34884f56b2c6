import { readFileSync } from 'node:fs';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import { problemText } from '../../policies/document/reading.ts';
import type { Policy } from '../../policies/policy.ts';
import { RelayError } from '../relay-error.ts';

/**
 * Reads the policy from the file that the build packs for the functions: `{policy: {version, document}, …}`.
 *
 * @throws {RelayError} `config_invalid` naming the file and every problem in it.
 */
export function readPolicyFile(file: string): Policy {
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
  const parsed = parsePolicy(document, version);
  if (parsed.ok) return parsed.value;
  throw new RelayError('config_invalid', `${file}, policy: ${parsed.problems.map(problemText).join('; ')}`);
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
