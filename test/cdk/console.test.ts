import { beforeAll, expect, test } from 'vitest';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { A_CONSOLE, DEFAULTS, type Resource, type Synthesized, synthesize } from './synthesized.ts';

let synthesized: Synthesized;
let without: Synthesized;
beforeAll(() => {
  synthesized = synthesize(DEFAULTS.map((each) => ({ ...each, console: A_CONSOLE })));
  without = synthesize(DEFAULTS);
});

const own = (from: Synthesized, type: string): readonly Resource[] =>
  from
    .resources(type)
    .filter(([where]) => where.split('/')[1]?.startsWith('Console'))
    .map(([, resource]) => resource);

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Condition?: { readonly 'ForAllValues:StringLike'?: Record<string, string | readonly string[]> };
}
const statements = (): readonly Statement[] =>
  own(synthesized, 'AWS::IAM::Policy').flatMap(({ Properties }) => Properties.PolicyDocument.Statement);

/** The partitions that an action is allowed on; undefined: on all. */
function partitionsOf(action: string): readonly (readonly string[] | undefined)[] {
  return statements()
    .filter(({ Effect, Action }) => Effect === 'Allow' && [Action].flat().includes(`dynamodb:${action}`))
    .map(({ Condition }) => {
      const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
      return keys === undefined ? undefined : [keys].flat();
    });
}

const fits = (pk: string, patterns: readonly string[]): boolean =>
  patterns.some((each) => (each.endsWith('*') ? pk.startsWith(each.slice(0, -1)) : pk === each));

test('there is none unless the settings ask for one', () => {
  expect(own(without, 'AWS::Lambda::Function')).toEqual([]);
  expect(JSON.stringify(without.stacks.map(({ template }) => template.Outputs))).not.toContain('ConsoleUrl');
});

test('is reached by browsers, which cannot sign for AWS, and its address is told', () => {
  expect(own(synthesized, 'AWS::Lambda::Url')[0]?.Properties.AuthType).toBe('NONE');
  const outputs = Object.assign({}, ...synthesized.stacks.map(({ template }) => template.Outputs));
  expect(outputs.ConsoleUrl.Value).toEqual({
    'Fn::GetAtt': [expect.stringMatching(/^Console/), 'FunctionUrl'],
  });
});

test('costs no more in a flood than its share of the account', () => {
  expect(own(synthesized, 'AWS::Lambda::Function')[0]?.Properties).toMatchObject({
    ReservedConcurrentExecutions: 10,
    MemorySize: 512,
    Timeout: 15,
  });
});

test('is told who rules it, and where its two secrets are, which it alone of all parameters may read', () => {
  expect(own(synthesized, 'AWS::Lambda::Function')[0]?.Properties.Environment.Variables).toMatchObject({
    TOLLGATE_CONSOLE_URL: 'https://budget.corp.test',
    TOLLGATE_ADMIN_GROUP_ID: '123',
    TOLLGATE_FINANCE_GROUP_ID: '124',
    TOLLGATE_OWNERS_FROM: 'maintainer',
    TOLLGATE_VIEWERS_FROM: 'developer',
  });
  const rights = JSON.stringify(statements());
  const read = [...rights.matchAll(/:parameter([^"]+)"/g)].map(([, name]) => name);
  expect(read.sort()).toEqual(['/tollgate/prod/console-token', '/tollgate/prod/signin-secret']);
  const others = synthesized
    .resources('AWS::IAM::Policy')
    .filter(([where]) => !where.split('/')[1]?.startsWith('Console'));
  expect(JSON.stringify(others)).not.toMatch(/parameter\/tollgate\/prod\/(?:console-token|signin-secret)/);
});

test.each(['PutItem', 'UpdateItem'])('may %s limits and sessions, and never the books', (action) => {
  const keys = ledgerKeys('gitlab.example.com');
  const counter = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  const [patterns, ...others] = partitionsOf(action);
  expect(others).toEqual([]);
  const may = ({ pk }: { readonly pk: string }): boolean => fits(pk, patterns ?? ['*']);
  const written = [
    keys.limitPointer,
    keys.limitChunk('s', 'root/100', 0),
    keys.limitChunk('upload-7-a', 'file', 0),
    keys.limitOpening(counter),
    keys.limitLog(17),
    keys.limitRequest('r-1'),
    keys.session('hash'),
  ];
  expect(written.filter((key) => !may(key))).toEqual([]);
  const books = [
    keys.record(7),
    keys.entry(7, 1),
    keys.counter(counter),
    keys.closing(counter),
    keys.inbox('delivery', 0),
    keys.directoryPointer,
    keys.sweepMarks,
  ];
  expect(books.filter(may)).toEqual([]);
});

test('may delete who is signed in, and nothing else', () => {
  expect(partitionsOf('DeleteItem')).toEqual([['gitlab.example.com@sessions#*']]);
});
