import { expect, test } from 'vitest';
import { headline } from '../../../../policies/text/reason-texts.ts';
import { NOW_MS, told, toldDiscreetly } from '../told.ts';

test('a field GitLab did not send: what the author can write, or whom to show it', () => {
  expect(told([{ code: 'FIELD_MISSING', field: 'image' }])).toMatchInlineSnapshot(`
    "GitLab did not tell the job's image, and a rule needs it.

    [FIELD_MISSING] job "e2e-large" was not started. Nothing is wrong with your code.
      image: not sent by GitLab
    Retrying will fail again. Name an image in the job.
    If it is there already, show this message to the team that runs CI.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly({ code: 'FIELD_MISSING', field: 'refProtected' })).toMatchInlineSnapshot(`
    "GitLab did not tell the job's ref protection, and a rule needs it.

    [FIELD_MISSING] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying will fail again: show this message to the team that runs CI.
    Decision: d-01JABC"
  `);
});

test('a variable the job does not set', () => {
  expect(told([{ code: 'FIELD_MISSING', field: 'KUBERNETES_CPU_REQUEST' }])).toMatchInlineSnapshot(`
    "KUBERNETES_CPU_REQUEST of this job is not known, and a rule needs it.

    [FIELD_MISSING] job "e2e-large" was not started. Nothing is wrong with your code.
      KUBERNETES_CPU_REQUEST: not set, not a quantity, or not sent by GitLab
    Retrying will fail again. Set the variable KUBERNETES_CPU_REQUEST in the job.
    If it is there already, show this message to the team that runs CI.
    Decision: d-01JABC"
  `);
});

test('a field nobody has a word for is told by its name', () => {
  expect(headline({ code: 'FIELD_MISSING', field: 'constructor' }, { currency: '', nowMs: NOW_MS })).toBe(
    "GitLab did not tell the job's constructor, and a rule needs it.",
  );
});

test('our own failure says so, and keeps its cause to the log', () => {
  expect(told([{ code: 'CONTROLLER_ERROR', cause: 'RangeError' }])).toMatchInlineSnapshot(`
    "The system that admits CI jobs failed on this job. The job is not the cause.

    [CONTROLLER_ERROR] job "e2e-large" was not started. Nothing is wrong with your code.
      a rule failed, and it is set to reject jobs when it fails
    A retry may work once the system has recovered. If it does not, show this message to the team that runs CI.
    Decision: d-01JABC"
  `);
});
