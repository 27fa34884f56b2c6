/** Whether a stack may be deleted: CloudFormation's own lock, which stops every way of deleting it. */
export interface StackProtection {
  /** @returns false where there is no such stack. @throws {Error} with CloudFormation's own words. */
  set(stackName: string, isProtected: boolean): Promise<boolean>;
}

export interface StackProtectionDeps {
  /** `https://cloudformation.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
  /** Signs for CloudFormation. */
  readonly signedFetch: (url: string, init: RequestInit) => Promise<Response>;
}

const TIMEOUT_MS = 15_000;
const VERSION = '2010-05-15';

/**
 * One call of CloudFormation's API; its SDK client would be a package for this alone.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateTerminationProtection.html
 */
export function stackProtection({ endpoint, signedFetch }: StackProtectionDeps): StackProtection {
  return {
    async set(stackName, isProtected) {
      const form = new URLSearchParams({
        Action: 'UpdateTerminationProtection',
        Version: VERSION,
        StackName: stackName,
        EnableTerminationProtection: String(isProtected),
      });
      const response = await signedFetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: form.toString(),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (response.ok) return true;
      const [, message = `HTTP ${response.status}`] = /<Message>([^<]*)<\/Message>/.exec(text) ?? [];
      if (/does not exist/.test(message)) return false;
      throw new Error(`CloudFormation did not change the protection of ${stackName}: ${message}`);
    },
  };
}

/** China's partition has a domain of its own. */
export const cloudFormationEndpoint = (region: string, override: string | undefined): string =>
  override ?? `https://cloudformation.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
