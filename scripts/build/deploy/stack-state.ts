import { type CloudFormationDeps, callCloudFormation } from '../cloudformation/call-cloudformation.ts';

/** How a stack stands; `undefined`: there is none. */
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
