import { beforeAll, expect, test } from 'vitest';
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

test('there is none unless the settings ask for one', () => {
  expect(own(without, 'AWS::Lambda::Function')).toEqual([]);
  expect(JSON.stringify(without.stacks.map(({ template }) => template.Outputs))).not.toContain('ConsoleUrl');
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
