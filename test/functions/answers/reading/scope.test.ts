import { expect, test } from 'vitest';
import { subjectLabelOf } from '../../../../functions/answers/reading/scope.ts';
import { DIRECTORY } from '../../console/house.ts';

test.each([
  ['instance', 'The whole GitLab'],
  ['group/101', 'acme/payments'],
  ['project/1', 'acme/payments/cards/api'],
  ['runner-class/small', 'small'],
  ['user/7', 'user 7'],
  ['group/101/each/pipeline', 'acme/payments: each pipeline'],
  ['group/101/each/pipeline/900', 'acme/payments: pipeline 900'],
  ['group/101/each/job', 'acme/payments: each job name'],
  ['group/101/each/job/1/unit tests', 'acme/payments: job unit tests of acme/payments/cards/api'],
  ['group/101/each/job/1/a/b', 'acme/payments: job a/b of acme/payments/cards/api'],
  ['group/101/each/schedule/1/0f3a', 'acme/payments: schedule 0f3a of acme/payments/cards/api'],
  ['group/101/each/job/77/unit', 'acme/payments: job 77/unit'],
  ['group/77', 'group/77'],
])('%s is called %s', (subject, label) => {
  expect(subjectLabelOf(subject, DIRECTORY)).toBe(label);
});
