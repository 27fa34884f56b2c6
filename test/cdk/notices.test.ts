import { beforeAll, expect, test } from 'vitest';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { A_CONSOLE, DEFAULTS, type Resource, type Synthesized, synthesize } from './synthesized.ts';

let synthesized: Synthesized;
let without: Synthesized;
beforeAll(() => {
  synthesized = synthesize(
    DEFAULTS.map((each) => ({ ...each, console: A_CONSOLE, notices: { everyMinutes: 30 } })),
  );
  without = synthesize(DEFAULTS.map((each) => ({ ...each, notices: { everyMinutes: 0 } })));
});

const own = (from: Synthesized, type: string, part = 'Notices'): readonly Resource[] =>
  from
    .resources(type)
    .filter(([where]) => where.split('/')[1]?.startsWith(part))
    .map(([, resource]) => resource);

test('0 minutes: there is no such function', () => {
  expect(own(without, 'AWS::Lambda::Function')).toEqual([]);
});

test('it may publish to one topic and write no more than how far it has told, and which forecasts', () => {
  const statements: readonly {
    readonly Effect: string;
    readonly Action: string | string[];
    readonly Condition?: object;
  }[] = own(synthesized, 'AWS::IAM::Policy')
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter(({ Effect }) => Effect === 'Allow');
  const writes = statements.filter(({ Action }) =>
    [Action].flat().some((each) => /Put|Update|Delete/.test(each) && each.startsWith('dynamodb')),
  );
  expect(writes).toMatchObject([
    {
      Action: 'dynamodb:PutItem',
      Condition: {
        'ForAllValues:StringLike': {
          'dynamodb:LeadingKeys': ['gitlab.example.com@notices', 'gitlab.example.com@alerts#forecasts#*'],
        },
      },
    },
  ]);
  const other = statements
    .flatMap(({ Action }) => [Action].flat())
    .filter((each) => !/^(logs|dynamodb):/.test(each));
  expect(other).toEqual(['sns:Publish']);
});

test('where groups agreed to notes it reads their tokens and no other, and is where GitLab is reached', () => {
  const noted = synthesize(
    DEFAULTS.map((each) => ({
      ...each,
      notices: { everyMinutes: 15 },
      parameters: { noteTokens: '/tollgate/prod/notes' },
    })),
  );
  const [program] = own(noted, 'AWS::Lambda::Function');
  expect(program?.Properties.Environment.Variables).toMatchObject({
    TOLLGATE_NOTE_TOKENS_PATH: '/tollgate/prod/notes',
    TOLLGATE_GITLAB_URL: expect.stringContaining('https://gitlab.'),
  });
  const rights = own(noted, 'AWS::IAM::Policy')
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter(({ Action }) => JSON.stringify(Action).includes('ssm:'));
  expect(rights).toMatchObject([{ Effect: 'Allow', Action: 'ssm:GetParameter' }]);
  expect(JSON.stringify(rights[0].Resource)).toContain(':parameter/tollgate/prod/notes/*"');
  const [unasked] = own(synthesized, 'AWS::Lambda::Function');
  expect(unasked?.Properties.Environment.Variables).not.toHaveProperty('TOLLGATE_GITLAB_URL');
  expect(program?.Properties.VpcConfig).toBeUndefined();
});

test('the console may send a report and note that it did', () => {
  const rights = JSON.stringify(own(synthesized, 'AWS::IAM::Policy', 'Console'));
  expect(rights).toContain('sns:Publish');
  const { pk } = ledgerKeys('gitlab.example.com').announcement('x');
  expect(rights).toContain(`${pk.slice(0, pk.lastIndexOf('#'))}#*`);
  expect(
    own(synthesized, 'AWS::Lambda::Function', 'Console')[0]?.Properties.Environment.Variables,
  ).toHaveProperty('TOLLGATE_THRESHOLDS_TOPIC');
});
