import { type CloudFormationDeps, callCloudFormation } from '../cloudformation/call-cloudformation.ts';

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
