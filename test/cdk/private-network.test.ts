/** The endpoints that RUNBOOK.md asks for are those of the services that programs inside of a VPC may call. */
import { expect, test } from 'vitest';
import { HEADINGS } from './runbook-text.ts';
import { PRIVATE, synthesize } from './synthesized.ts';

/** As actions begin, and the endpoints they travel by. */
const ENDPOINTS: Readonly<Record<string, readonly string[]>> = {
  ssm: ['ssm'],
  logs: ['logs'],
  ecr: ['ecr.api', 'ecr.dkr', 's3'],
  lambda: ['lambda'],
  dynamodb: ['dynamodb'],
  sns: ['sns'],
};
/** Called by services on a program's behalf, by Lambda itself, or sent to an address inside of the machine. */
const BY_OTHERS = ['kms', 'ec2', 'xray'];

test('the endpoints of a network without a way out are those that its programs need', () => {
  const synthesized = synthesize(PRIVATE);
  const inside = [
    ...synthesized
      .resources('AWS::Lambda::Function')
      .filter(([, { Properties }]) => Properties.VpcConfig !== undefined)
      .map(([, { Properties }]) => Properties.Role['Fn::GetAtt'][0]),
    ...synthesized
      .resources('AWS::ECS::TaskDefinition')
      .flatMap(([, { Properties }]) => [Properties.TaskRoleArn, Properties.ExecutionRoleArn])
      .map((arn) => arn['Fn::GetAtt'][0]),
  ] as readonly string[];
  expect(inside.length).toBeGreaterThan(4);
  const actions = synthesized
    .resources('AWS::IAM::Policy')
    .filter(([, { Properties }]) => Properties.Roles.some(({ Ref }: { Ref: string }) => inside.includes(Ref)))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action }) => Action as string | readonly string[]);
  const services = new Set(actions.map((action) => action.split(':')[0] ?? ''));
  // A template with a ready image knows no registry.
  services.add('ecr');
  const needed = [...services]
    .filter((service) => !BY_OTHERS.includes(service))
    .flatMap((service) => ENDPOINTS[service] ?? [`nobody knows the endpoint of ${service}`]);
  const { body = '' } = HEADINGS.find(({ text }) => text === 'A network without a way out') ?? {};
  const told = [...body.matchAll(/`com\.amazonaws\.<region>\.([a-z.0-9]+)`/g)].map(([, name]) => name);
  expect(told.toSorted()).toEqual(needed.toSorted());
});
