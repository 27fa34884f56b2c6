import { expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import { aPolicy, someLimits, using } from '../documents.ts';
import { problemsOf } from './checking.ts';

const freeze = (parts: object): object => ({ kind: 'freeze', ...parts });
const job = {
  namespaceId: 104,
  rootNamespaceId: 100,
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  runnerTags: ['large'],
  ref: 'main',
  environment: 'production',
  pipelineSource: 'push',
  jobName: 'deploy',
} as const;

test('an exempt job starts all the same, and that is recorded', () => {
  const policy = aPolicy({
    rules: [
      {
        id: 'f',
        mode: 'enforce',
        ...freeze({ exempt: [{ jobs: ['hotfix'], reason: 'INC-7', until: 'never' }] }),
      },
    ],
  });
  const of = (jobName: string): readonly string[] =>
    evaluate({ jobId: 1, ...job, jobName }, using(policy, someLimits({ limits: [] }, policy))).violations.map(
      ({ mode, class: ruleClass }) => `${ruleClass} ${mode}`,
    );
  expect(of('deploy')).toEqual(['capacity enforce']);
  expect(of('hotfix')).toEqual(['capacity shadow']);
});

const EDGE = 'expected a day such as 2026-12-31 or an instant such as 2026-12-31T18:00Z';
const TIME = 'expected a time of the day in quotes, such as "18:00"';
test.each<[object, string]>([
  [
    { windows: [] },
    'rules[0].windows: is empty; leave it out to freeze until the rule is gone, or list {from, until} or {days, from, until}',
  ],
  [{ windows: [{ until: '2026-12-31' }] }, `rules[0].windows[0].from: missing; ${EDGE}`],
  [{ windows: [{ from: '2026-02-30' }] }, `rules[0].windows[0].from: '2026-02-30'; ${EDGE}`],
  [
    { windows: [{ from: '2026-12-31', until: '2026-12-30' }] },
    "rules[0].windows[0].until: '2026-12-30'; expected an end after from",
  ],
  [
    { windows: [{ from: '2026-12-31', till: '2026-12-31' }] },
    'rules[0].windows[0].till: unknown key; expected one of days, from, until',
  ],
  [
    { windows: [{ days: [] }] },
    'rules[0].windows[0].days: is empty; expected days: mon, tue, wed, thu, fri, sat, sun',
  ],
  [
    { windows: [{ days: ['friday'] }] },
    "rules[0].windows[0].days[0]: 'friday'; expected a day: mon, tue, wed, thu, fri, sat, sun",
  ],
  [{ windows: [{ days: ['fri'], until: '24:01' }] }, `rules[0].windows[0].until: '24:01'; ${TIME}`],
  [
    { windows: [{ days: ['fri'], from: '24:00' }] },
    "rules[0].windows[0].from: '24:00'; expected a time before 24:00; write 00:00 and the next day",
  ],
  [{ zone: '+01:00' }, "rules[0].zone: '+01:00'; expected a zone such as Europe/Berlin or UTC"],
  [{ why: ' ' }, "rules[0].why: ' '; expected a text of at most 200 characters"],
])('%j is refused: %s', (parts, problem) => {
  expect(problemsOf(freeze(parts))).toEqual([problem]);
});
