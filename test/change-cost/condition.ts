import { expect } from 'vitest';
import type { Change } from './change.ts';

export const aCondition: Change = {
  what: 'a condition of rules on a field that is there: the kind of runner',
  filesMax: 3,
  patches: [
    {
      file: 'policies/match/conditions.ts',
      before: '  readonly users?:',
      insert: '  readonly runnerTypes?: ReadonlySet<string>;\n',
    },
    { file: 'policies/match/conditions.ts', before: "  users: '", insert: "  runnerTypes: 'runnerType',\n" },
    {
      file: 'policies/match/condition.ts',
      before: "    case 'users':",
      insert: `    case 'runnerTypes':
      return isAmong(conditions.runnerTypes, request.runnerType, 'runnerType');
`,
    },
    { file: 'policies/document/parse-match.ts', before: "  'users',\n", insert: "  'runner_types',\n" },
    {
      file: 'policies/document/parse-match.ts',
      before: '  const users = ',
      insert: `  const types = readSome(reading.at('runner_types'), 'kinds of runners', (each) => each.text('a kind of runner'));
`,
    },
    {
      file: 'policies/document/parse-match.ts',
      before: '    users: users &&',
      insert: '    runnerTypes: types && new Set(types),\n',
    },
  ],
  shows: async (load) => {
    const { Reading } = await load('policies/document/reading.ts');
    const { readMatch } = await load('policies/document/parse-match.ts');
    const { failedCondition, matchOf } = await load('policies/match/match.ts');
    const { conditionKey, valueCompared } = await load('functions/answers/job/condition-text.ts');
    const { fieldsNeeded } = await load('scripts/cli/policy/warnings/absent-fields.ts');
    const match = readMatch(Reading.of({ runner_types: ['group_type'] }), []);
    const job = { request: { jobId: 7, runnerType: 'project_type' }, placement: { ancestors: [] } };
    expect(matchOf(match, job)).toEqual({ matches: false });
    const failed = failedCondition(match, job);
    expect([conditionKey(failed), valueCompared(failed, job)]).toEqual(['runner_types', 'project_type']);
    expect(fieldsNeeded({ match, stateless: false }, {})).toContain('runnerType');
  },
};
