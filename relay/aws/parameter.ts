import { isRecord } from '../../policies/document/reading.ts';
import { type AwsJsonDeps, awsJson } from './aws-json.ts';

const TIMEOUT_MS = 3_000;

/**
 * The text of one SSM parameter, decrypted.
 *
 * @throws {Error} named like SSM's error, or because there is no value; never quoting one.
 */
export async function readParameter(deps: AwsJsonDeps, name: string): Promise<string> {
  const answer = await awsJson(deps, {
    target: 'AmazonSSM.GetParameter',
    version: '1.1',
    input: { Name: name, WithDecryption: true },
    timeoutMs: TIMEOUT_MS,
  });
  const parameter = isRecord(answer) ? answer.Parameter : undefined;
  const value = isRecord(parameter) ? parameter.Value : undefined;
  if (typeof value !== 'string') throw new Error(`parameter ${name} has no value`);
  return value;
}
