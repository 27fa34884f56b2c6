/** One call of CloudFormation's API; its SDK client would be a package for these few. */
export interface CloudFormationDeps {
  /** `https://cloudformation.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
  /** Signs for CloudFormation. */
  readonly signedFetch: (url: string, init: RequestInit) => Promise<Response>;
}

const TIMEOUT_MS = 15_000;
const VERSION = '2010-05-15';

/**
 * @param told - adds context to CloudFormation's message
 * @returns the answer's XML; undefined: there is no such stack.
 * @throws {Error} with CloudFormation's own words.
 */
export async function callCloudFormation(
  action: string,
  parameters: Readonly<Record<string, string>>,
  { endpoint, signedFetch }: CloudFormationDeps,
  told = (message: string): string => message,
): Promise<string | undefined> {
  const response = await signedFetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ Action: action, Version: VERSION, ...parameters }).toString(),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.ok) return text;
  const [, message = `HTTP ${response.status}`] = /<Message>([^<]*)<\/Message>/.exec(text) ?? [];
  if (/does not exist/.test(message)) return undefined;
  throw new Error(told(message));
}

/** Status of a stack; `undefined`: none. */
export type StackStatus = (stackName: string) => Promise<string | undefined>;

/**
 * @throws {Error} with CloudFormation's own words.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 */
export const stackStatus =
  (deps: CloudFormationDeps): StackStatus =>
  async (stackName) => {
    const text = await callCloudFormation('DescribeStacks', { StackName: stackName }, deps);
    const [, status] = /<StackStatus>(\w+)<\/StackStatus>/.exec(text ?? '') ?? [];
    return status === 'DELETE_COMPLETE' ? undefined : status;
  };

/** CloudFormation's termination protection of a stack. */
export interface StackProtection {
  /** @returns false where there is no such stack. @throws {Error} with CloudFormation's own words. */
  set(stackName: string, isProtected: boolean): Promise<boolean>;
}

/** @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateTerminationProtection.html */
export function stackProtection(deps: CloudFormationDeps): StackProtection {
  return {
    async set(stackName, isProtected) {
      const parameters = { StackName: stackName, EnableTerminationProtection: String(isProtected) };
      const text = await callCloudFormation(
        'UpdateTerminationProtection',
        parameters,
        deps,
        (message) => `CloudFormation did not change the protection of ${stackName}: ${message}`,
      );
      return text !== undefined;
    },
  };
}

/** China's partition has a domain of its own. */
export const cloudFormationEndpoint = (region: string, override: string | undefined): string =>
  override ?? `https://cloudformation.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
