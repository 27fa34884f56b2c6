/** One call of CloudFormation's API; its SDK client would be a package for these few. */
export interface CloudFormationDeps {
  /** `https://cloudformation.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
  readonly signedFetch: (url: string, init: RequestInit) => Promise<Response>;
}

const TIMEOUT_MS = 15_000;

/** @returns the answer's XML; undefined: there is no such stack. @throws {Error} with CloudFormation's own words. */
async function callCloudFormation(
  action: string,
  parameters: Readonly<Record<string, string>>,
  { endpoint, signedFetch }: CloudFormationDeps,
): Promise<string | undefined> {
  const response = await signedFetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ Action: action, Version: '2010-05-15', ...parameters }).toString(),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.ok) return text;
  const [, message = `HTTP ${response.status}`] = /<Message>([^<]*)<\/Message>/.exec(text) ?? [];
  if (/does not exist/.test(message)) return undefined;
  throw new Error(`CloudFormation, ${action} of ${parameters.StackName}: ${message}`);
}

export type StackStatus = (stackName: string) => Promise<string | undefined>;

export const stackStatus =
  (deps: CloudFormationDeps): StackStatus =>
  async (stackName) => {
    const text = await callCloudFormation('DescribeStacks', { StackName: stackName }, deps);
    const [, status] = /<StackStatus>(\w+)<\/StackStatus>/.exec(text ?? '') ?? [];
    return status === 'DELETE_COMPLETE' ? undefined : status;
  };

export interface StackProtection {
  /** @returns false where there is no such stack. @throws {Error} with CloudFormation's own words. */
  set(stackName: string, isProtected: boolean): Promise<boolean>;
}

export const stackProtection = (deps: CloudFormationDeps): StackProtection => ({
  async set(stackName, isProtected) {
    const parameters = { StackName: stackName, EnableTerminationProtection: String(isProtected) };
    return (await callCloudFormation('UpdateTerminationProtection', parameters, deps)) !== undefined;
  },
});

export const cloudFormationEndpoint = (region: string, override: string | undefined): string =>
  override ?? `https://cloudformation.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
