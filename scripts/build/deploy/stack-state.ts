import { type CloudFormationDeps, callCloudFormation } from '../cloudformation/call-cloudformation.ts';

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
