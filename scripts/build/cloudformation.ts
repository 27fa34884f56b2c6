import { type CredentialsProvider, signedFetch } from '../../relay/aws/signed-fetch.ts';

const TIMEOUT_MS = 15_000;

/** They take a stack as their only parameter. */
export type StackAction = 'ContinueUpdateRollback' | 'DeleteStack' | 'RollbackStack';

export type CloudFormation = ReturnType<typeof cloudFormation>;

/** CloudFormation's API; its SDK client would be a package for a few calls. @param signed - a `fetch` that signs */
export function cloudFormation(endpoint: string, signed: ReturnType<typeof signedFetch<Response>>) {
  /** @returns the answer's XML; undefined: there is no such stack. @throws {Error} with CloudFormation's own words. */
  async function call(action: string, parameters: Readonly<Record<string, string>>) {
    const response = await signed(endpoint, {
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
  return {
    async status(StackName: string): Promise<string | undefined> {
      const text = await call('DescribeStacks', { StackName });
      const [, status] = /<StackStatus>(\w+)<\/StackStatus>/.exec(text ?? '') ?? [];
      return status === 'DELETE_COMPLETE' ? undefined : status;
    },
    /** @returns false where there is no such stack. */
    async protect(StackName: string, isProtected: boolean): Promise<boolean> {
      const parameters = { StackName, EnableTerminationProtection: String(isProtected) };
      return (await call('UpdateTerminationProtection', parameters)) !== undefined;
    },
    async act(action: StackAction, StackName: string): Promise<void> {
      await call(action, { StackName });
    },
    /** Returns the first failure of the last creation, update or deletion. */
    async whyFailed(StackName: string): Promise<string | undefined> {
      let [why, NextToken]: (string | undefined)[] = [];
      do {
        const text = await call('DescribeStackEvents', { StackName, ...(NextToken && { NextToken }) });
        // The newest event comes first.
        for (const [event] of text?.matchAll(/<member>.*?<\/member>/gs) ?? []) {
          const read = (name: string) => new RegExp(`<${name}>([^<]*)</`).exec(event)?.[1] ?? '';
          const status = read('ResourceStatus');
          const isOfStack = read('ResourceType') === 'AWS::CloudFormation::Stack';
          if (isOfStack && /^(?:CREATE|UPDATE|DELETE)_IN_PROGRESS$/.test(status)) return why;
          if (!isOfStack && status.endsWith('_FAILED'))
            why = `${read('LogicalResourceId')}: ${read('ResourceStatusReason')}`;
        }
        NextToken = /<NextToken>([^<]*)</.exec(text ?? '')?.[1];
      } while (NextToken !== undefined);
      return why;
    },
  };
}

/** Of this region, or of the emulator that the environment names. */
export function openCloudFormation(region: string, credentials: CredentialsProvider): CloudFormation {
  const { AWS_ENDPOINT_URL_CLOUDFORMATION, AWS_ENDPOINT_URL } = process.env;
  const own = `https://cloudformation.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const signed = signedFetch({ fetch, credentials, region, service: 'cloudformation', nowMs: Date.now });
  return cloudFormation(AWS_ENDPOINT_URL_CLOUDFORMATION ?? AWS_ENDPOINT_URL ?? own, signed);
}
