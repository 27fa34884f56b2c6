import { beforeAll, describe, expect, test } from 'vitest';
import { WATCHED } from './monitored.ts';
import { type Resource, type Synthesized, synthesize } from './synthesized.ts';

/** As the developer guide of ECS has it, with our service in it. */
const event = (eventName: string, service: string) => ({
  source: 'aws.ecs',
  'detail-type': 'ECS Deployment State Change',
  resources: [service],
  detail: {
    eventType: 'ERROR',
    eventName,
    deploymentId: 'ecs-svc/123',
    updatedAt: '2026-11-22T14:00:00Z',
    reason: 'ECS deployment circuit breaker: task failed to start.',
  },
});

let synthesized: Synthesized;
let rule: Resource['Properties'];
beforeAll(() => {
  synthesized = synthesize(WATCHED);
  const found = synthesized
    .resources('AWS::Events::Rule')
    .find(([, { Properties }]) => Properties.Name === 'tollgate-prod-relay-deployment-failed');
  rule = found?.[1].Properties;
});

/** Each field of a pattern is a list of what may stand there. */
const matches = (pattern: unknown, value: unknown): boolean => {
  if (Array.isArray(pattern))
    return (Array.isArray(value) ? value : [value]).some((each) => pattern.includes(each));
  return Object.entries(pattern as object).every(([name, of]) =>
    matches(of, (value as Readonly<Record<string, unknown>>)[name]),
  );
};

describe('a deployment of the relays that ECS gives up', () => {
  const ours = 'arn:of:the:service';
  const matched = (eventName: string, service: string): boolean => {
    const pattern = { ...rule.EventPattern, resources: rule.EventPattern.resources.map(() => ours) };
    return matches(pattern, event(eventName, service));
  };

  test('is told: that one of our service, and no other state of it', () => {
    expect(rule.EventPattern.resources).toEqual([{ Ref: expect.stringMatching(/^RelayService/) }]);
    expect(matched('SERVICE_DEPLOYMENT_FAILED', ours)).toBe(true);
    expect(matched('SERVICE_DEPLOYMENT_FAILED', 'another')).toBe(false);
    expect(matched('SERVICE_DEPLOYMENT_COMPLETED', ours)).toBe(false);
  });

  test('by a role that may do nothing but that, while no service of AWS may publish by itself', () => {
    const [{ RoleArn }] = rule.Targets;
    const [role] = RoleArn['Fn::GetAtt'];
    const statements = synthesized
      .resources('AWS::IAM::Policy')
      .filter(([, { Properties }]) => JSON.stringify(Properties.Roles).includes(role))
      .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);
    expect(statements.map(({ Action }: { Action: unknown }) => Action)).toEqual([
      'sns:Publish',
      ['kms:Decrypt', 'kms:GenerateDataKey'],
    ]);
    const topics = JSON.stringify(synthesized.resources('AWS::SNS::TopicPolicy'));
    expect(topics).not.toContain('events.amazonaws.com');
  });
});
