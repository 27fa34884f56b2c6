import { type Fetch, readResponseText } from '../admit-call.ts';
import { awsError } from './aws-error.ts';

export interface AwsJsonDeps {
  /** Signs for the service. */
  readonly fetch: Fetch;
  /** `https://ssm.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
}

interface AwsJsonCall {
  /** `AmazonSSM.GetParameter`, `DynamoDB_20120810.PutItem` */
  readonly target: string;
  /** The protocol's: 1.0 for DynamoDB, 1.1 for SSM. */
  readonly version: '1.0' | '1.1';
  readonly input: object;
  readonly timeoutMs: number;
  /** @default ANSWER_BYTES_MAX */
  readonly answerBytesMax?: number;
}

/** Most of what the relay asks for is a parameter of 8 KB or nothing. */
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * One call of AWS's JSON protocol, by hand: three operations are not worth two clients.
 *
 * @throws {Error} named like the service's error, e.g. `ParameterNotFound`; its message never quotes what was sent or said.
 * @see https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
 */
export async function awsJson({ fetch, endpoint }: AwsJsonDeps, call: AwsJsonCall): Promise<unknown> {
  const response = await fetch(`${endpoint}/`, {
    method: 'POST',
    headers: { 'content-type': `application/x-amz-json-${call.version}`, 'x-amz-target': call.target },
    body: JSON.stringify(call.input),
    redirect: 'manual',
    signal: AbortSignal.timeout(call.timeoutMs),
  });
  const text = await readResponseText(response, call.answerBytesMax ?? ANSWER_BYTES_MAX);
  const answer = text === undefined ? undefined : parsed(text);
  if (response.status !== 200) throw awsError(call.target, response, answer);
  if (answer === undefined) throw new Error(`${call.target} answered with what is not JSON`);
  return answer;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote a secret.
    return undefined;
  }
}
