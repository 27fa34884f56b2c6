/** How a stack stands; `undefined`: there is none. */
export type StackStatus = (stackName: string) => Promise<string | undefined>;

export interface StackStatusDeps {
  /** `https://cloudformation.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
  /** Signs for CloudFormation. */
  readonly signedFetch: (url: string, init: RequestInit) => Promise<Response>;
}

const TIMEOUT_MS = 15_000;

/**
 * One call of CloudFormation's API, as in ../destroy/stack-protection.ts.
 *
 * @throws {Error} with CloudFormation's own words.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 */
export const stackStatus =
  ({ endpoint, signedFetch }: StackStatusDeps): StackStatus =>
  async (stackName) => {
    const form = new URLSearchParams({
      Action: 'DescribeStacks',
      Version: '2010-05-15',
      StackName: stackName,
    });
    const response = await signedFetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    const [, status] = /<StackStatus>(\w+)<\/StackStatus>/.exec(text) ?? [];
    if (response.ok) return status === 'DELETE_COMPLETE' ? undefined : status;
    const [, message = `HTTP ${response.status}`] = /<Message>([^<]*)<\/Message>/.exec(text) ?? [];
    if (/does not exist/.test(message)) return undefined;
    throw new Error(message);
  };
