import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffTemplates, diffText } from '../../../scripts/build/diff-templates.ts';
import { paintWhen } from '../../../scripts/terminal/paint.ts';

const QUEUE = { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'dead-letters' } };
const TOPIC = { Type: 'AWS::SNS::Topic', Properties: { TopicName: 'alarms' } };

const service = (Resources: object, others: object = {}) => ({ Service: { Resources, ...others } });
const fn = (Properties: object) => service({ Admit: { Type: 'AWS::Lambda::Function', Properties } });
const changed = (before: object, after: object) =>
  diffTemplates(fn(before), fn(after)).flatMap(({ properties }) => properties);

test('templates that are alike have no difference', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (stacks) => {
      expect(diffTemplates(stacks, structuredClone(stacks))).toEqual([]);
    }),
  );
});

test('whatever differs in a property is a change, with both values', () => {
  fc.assert(
    fc.property(fc.integer(), fc.string(), (before, after) => {
      expect(changed({ Value: before }, { Value: after })).toEqual([
        { path: 'Properties.Value', before, after },
      ]);
    }),
  );
});

test('a property is named by its path, come or gone', () => {
  expect(
    changed({ Timeout: 10, Vpc: { Ids: ['a'] } }, { Timeout: 11, Vpc: { Ids: ['a'], Open: false } }),
  ).toEqual([
    { path: 'Properties.Timeout', before: 10, after: 11 },
    { path: 'Properties.Vpc.Open', before: undefined, after: false },
  ]);
});

test('resources that come and go are told with their type and properties', () => {
  expect(diffTemplates(service({ Letters: QUEUE }), service({ Alarms: TOPIC }))).toEqual([
    {
      stack: 'Service',
      section: 'Resources',
      id: 'Letters',
      type: 'AWS::SQS::Queue',
      kind: 'removed',
      properties: [{ path: 'Properties.QueueName', before: 'dead-letters', after: undefined }],
    },
    {
      stack: 'Service',
      section: 'Resources',
      id: 'Alarms',
      type: 'AWS::SNS::Topic',
      kind: 'added',
      properties: [{ path: 'Properties.TopicName', before: undefined, after: 'alarms' }],
    },
  ]);
});

test('a stack that is gone takes each of its resources with it', () => {
  const kinds = diffTemplates(service({ Letters: QUEUE, Alarms: TOPIC }), {}).map(({ id, kind }) => [
    id,
    kind,
  ]);
  expect(kinds).toEqual([
    ['Letters', 'removed'],
    ['Alarms', 'removed'],
  ]);
});

test('outputs and what has no name of its own are compared too', () => {
  const before = service({}, { Description: 'old', Outputs: { Url: { Value: 'a' } } });
  const after = service({}, { Description: 'new', Outputs: { Url: { Value: 'b' } } });
  expect(
    diffTemplates(before, after).map(({ section, id, properties }) => [section, id, properties]),
  ).toEqual([
    ['Description', '', [{ path: '', before: 'old', after: 'new' }]],
    ['Outputs', 'Url', [{ path: 'Value', before: 'a', after: 'b' }]],
  ]);
});

test('an item in front of a list is one change, not one of every item after it', () => {
  expect(changed({ Tags: ['a', 'b', 'c'] }, { Tags: ['new', 'a', 'b', 'c'] })).toEqual([
    { path: 'Properties.Tags[0]', after: 'new' },
  ]);
});

test('one property of one statement is told as such', () => {
  const statements = (Action: string) => ({ Statement: [{ Sid: 'Read' }, { Sid: 'Write', Action }] });
  expect(changed(statements('dynamodb:PutItem'), statements('dynamodb:*'))).toEqual([
    { path: 'Properties.Statement[1].Action', before: 'dynamodb:PutItem', after: 'dynamodb:*' },
  ]);
});

test('a list in another order is a change', () => {
  expect(changed({ Ids: ['a', 'b'] }, { Ids: ['b', 'a'] })).toMatchObject([
    { path: 'Properties.Ids (order)' },
  ]);
});

test('another build of the same code is none', () => {
  expect(
    changed({ Code: { S3Key: `${'a'.repeat(64)}.zip` } }, { Code: { S3Key: `${'b'.repeat(64)}.zip` } }),
  ).toEqual([]);
});

test('people read it stack by stack, and see where long values differ', () => {
  const body = (limit: number) => `${'widgets '.repeat(40)}limit ${limit}${' more'.repeat(40)}`;
  const before = service({
    Letters: QUEUE,
    Admit: { Type: 'AWS::Lambda::Function', Properties: { Timeout: 10, Body: body(1) } },
  });
  const after = service({
    Alarms: TOPIC,
    Admit: { Type: 'AWS::Lambda::Function', Properties: { Timeout: 11, Body: body(2) } },
  });
  expect(diffText(diffTemplates(before, after), paintWhen(false))).toMatchInlineSnapshot(`
    "Service
      - Letters  AWS::SQS::Queue
          Properties.QueueName  "dead-letters"
      ~ Admit  AWS::Lambda::Function
          Properties.Timeout  10 → 11
          Properties.Body
            - …widgets widgets widgets limit 1 more more more more more more more more more more more more more more more more more mor…
            + …widgets widgets widgets limit 2 more more more more more more more more more more more more more more more more more mor…
      + Alarms  AWS::SNS::Topic
          Properties.TopicName  "alarms"

    1 changed, 1 added, 1 removed
    "
  `);
  expect(diffText([], paintWhen(false))).toBe('no difference\n');
});
