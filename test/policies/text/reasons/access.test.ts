import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import { told, toldDiscreetly } from '../told.ts';

const timeout: Reason = {
  code: 'TIMEOUT_TOO_LONG',
  timeoutSeconds: 10_800,
  timeoutSecondsMax: 3_600,
  runnerClass: 'large',
};

test('a timeout', () => {
  expect(told([timeout])).toMatchInlineSnapshot(`
    "The timeout of this job is 180 min; runner class large allows 60 min.

    [TIMEOUT_TOO_LONG] job "e2e-large" was not started.
      timeout 180 min, at most 60 min on runner class large
    Retrying will fail again. Add to the job:  timeout: 60 minutes
    A job without a timeout of its own takes the project's.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(timeout)).toMatchInlineSnapshot(`
    "The timeout of this job is longer than its runner allows.

    [TIMEOUT_TOO_LONG] job "e2e-large" was not started.
    Retrying will fail again. Set a shorter timeout in the job.
    A job without a timeout of its own takes the project's.
    Decision: d-01JABC"
  `);
});

test.each([
  [90, '1.5 min', 'timeout: 1 minute\n'],
  [119, '1.9 min', 'timeout: 1 minute\n'],
  [45, '45 s', 'timeout: 45 seconds'],
])('what is allowed is never told as more than it is: %i s', (timeoutSecondsMax, text, yaml) => {
  const message = told([{ ...timeout, timeoutSecondsMax } as Reason]);
  expect(message).toContain(`allows ${text}.`);
  expect(message).toContain(yaml);
});

test('a runner class that is not for this job', () => {
  const scope: Reason = {
    code: 'RUNNER_SCOPE',
    runnerClass: 'gpu',
    needs: ['protected refs and environment production', 'certain groups'],
  };
  expect(told([scope])).toMatchInlineSnapshot(`
    "This job may not use runner class gpu. It is open to: protected refs and environment production; or certain groups.

    [RUNNER_SCOPE] job "e2e-large" was not started.
      runner class gpu is open to: protected refs and environment production; or certain groups
    Retrying will fail again. Choose another runner with "tags:", or ask the team that runs CI for access.
    Or run the job where the class is open: see above.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(scope)).toMatchInlineSnapshot(`
    "This job may not use runner class gpu.

    [RUNNER_SCOPE] job "e2e-large" was not started.
    Retrying will fail again. Choose another runner with "tags:", or ask the team that runs CI for access.
    Decision: d-01JABC"
  `);
  expect(told([{ ...scope, needs: [] } as Reason])).toMatchInlineSnapshot(`
    "This job may not use runner class gpu.

    [RUNNER_SCOPE] job "e2e-large" was not started.
      runner class gpu is open to nobody
    Retrying will fail again. Choose another runner with "tags:", or ask the team that runs CI for access.
    Decision: d-01JABC"
  `);
});

test('tags of no runner class', () => {
  expect(told([{ code: 'RUNNER_SCOPE', runnerClass: 'none', needs: [] }])).toMatchInlineSnapshot(`
    "This job may not run here: its tags belong to no runner class.

    [RUNNER_SCOPE] job "e2e-large" was not started.
      what belongs to no runner class is open to nobody
    Retrying will fail again. Choose another runner with "tags:", or ask the team that runs CI for access.
    Decision: d-01JABC"
  `);
});
