import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import { headline } from '../../../../policies/text/reason-texts.ts';
import { NOW_MS, told, toldDiscreetly } from '../told.ts';

const first = (reason: Reason): string => headline(reason, { currency: 'EUR', nowMs: NOW_MS });

const cap: Reason = {
  code: 'RESOURCE_CAP',
  resource: 'memory',
  variable: 'KUBERNETES_MEMORY_LIMIT',
  asked: '16Gi',
  cap: '12Gi',
};

test('a variable that asks for too much', () => {
  expect(told([cap])).toMatchInlineSnapshot(`
    "KUBERNETES_MEMORY_LIMIT asks for more memory than is allowed here: 16Gi, at most 12Gi.

    [RESOURCE_CAP] job "e2e-large" was not started.
      KUBERNETES_MEMORY_LIMIT: 16Gi, at most 12Gi
    Retrying will fail again. Lower KUBERNETES_MEMORY_LIMIT to 12Gi or less.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(cap)).toMatchInlineSnapshot(`
    "KUBERNETES_MEMORY_LIMIT asks for more memory than is allowed here.

    [RESOURCE_CAP] job "e2e-large" was not started.
    Retrying will fail again. Lower KUBERNETES_MEMORY_LIMIT.
    Decision: d-01JABC"
  `);
});

test('all containers together ask for too much', () => {
  const sum: Reason = { ...cap, sum: true, service: 'postgres:16' } as Reason;
  expect(told([sum])).toMatchInlineSnapshot(`
    "The containers of this job together ask for more memory than is allowed here: 16Gi, at most 12Gi.

    [RESOURCE_CAP] job "e2e-large" was not started.
      memory of all containers of the job: 16Gi, at most 12Gi; most of it by KUBERNETES_MEMORY_LIMIT of service "postgres:16"
    Retrying will fail again. Lower KUBERNETES_MEMORY_LIMIT of service "postgres:16" first: it asks for most of the sum.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(sum)).toMatchInlineSnapshot(`
    "The containers of this job together ask for more memory than is allowed here.

    [RESOURCE_CAP] job "e2e-large" was not started.
    Retrying will fail again. Lower KUBERNETES_MEMORY_LIMIT of service "postgres:16" first: it asks for most of the sum.
    Decision: d-01JABC"
  `);
});

test('a variable that is no quantity', () => {
  const reason: Reason = { code: 'RESOURCE_INVALID', variable: 'KUBERNETES_CPU_REQUEST', service: 'redis:7' };
  expect(told([reason])).toMatchInlineSnapshot(`
    "KUBERNETES_CPU_REQUEST of service "redis:7" is not a quantity that Kubernetes can read.

    [RESOURCE_INVALID] job "e2e-large" was not started.
      KUBERNETES_CPU_REQUEST of service "redis:7": no quantity that Kubernetes can read
    Retrying will fail again. Write a number without variables in it: 2 or 500m for CPU, 512Mi or 4Gi for memory.
    Decision: d-01JABC"
  `);
});

test('an overwrite that is off, one that does not match, and a reserved label', () => {
  const off: Reason = {
    code: 'OVERWRITE_NOT_ALLOWED',
    variable: 'KUBERNETES_NAMESPACE_OVERWRITE',
    why: 'off',
  };
  expect(told([off])).toMatchInlineSnapshot(`
    "Variable KUBERNETES_NAMESPACE_OVERWRITE may not be set here.

    [OVERWRITE_NOT_ALLOWED] job "e2e-large" was not started.
      KUBERNETES_NAMESPACE_OVERWRITE: may not be set
    Retrying will fail again. Remove the variable wherever it is set: in the job, the pipeline or the CI/CD settings.
    Decision: d-01JABC"
  `);
  const pattern: Reason = { ...off, why: 'pattern', pattern: '^ci-' } as Reason;
  expect(told([pattern])).toMatchInlineSnapshot(`
    "Variable KUBERNETES_NAMESPACE_OVERWRITE has a value that is not allowed here.

    [OVERWRITE_NOT_ALLOWED] job "e2e-large" was not started.
      KUBERNETES_NAMESPACE_OVERWRITE: its value does not match ^ci-
    Retrying will fail again. Give the variable a value that matches ^ci-, or remove it.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(pattern)).toMatchInlineSnapshot(`
    "Variable KUBERNETES_NAMESPACE_OVERWRITE has a value that is not allowed here.

    [OVERWRITE_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Give the variable another value, or remove it.
    Decision: d-01JABC"
  `);
  expect(
    told([{ code: 'OVERWRITE_NOT_ALLOWED', variable: 'KUBERNETES_POD_LABELS_OVERWRITE_1', why: 'reserved' }]),
  ).toMatchInlineSnapshot(`
    "Variable KUBERNETES_POD_LABELS_OVERWRITE_1 may not set labels of runner.gitlab.com.

    [OVERWRITE_NOT_ALLOWED] job "e2e-large" was not started.
      KUBERNETES_POD_LABELS_OVERWRITE_1: labels of runner.gitlab.com are read-only
    Retrying will fail again. Use another label.
    Decision: d-01JABC"
  `);
});

test('a service name that does not fit the first line goes before the numbers do', () => {
  const variable = 'KUBERNETES_SERVICE_EPHEMERAL_STORAGE_REQUEST';
  const long: Reason = {
    ...cap,
    resource: 'ephemeral-storage',
    variable,
    service: 'registry.acme.example/deep/postgres:16',
  } as Reason;
  expect(first(long)).toBe(
    `${variable} asks for more ephemeral storage than is allowed here: 16Gi, at most 12Gi.`,
  );
});

test('a variable that must be set, or be something else', () => {
  const required: Reason = { code: 'VARIABLE_NOT_ALLOWED', variable: 'COST_CENTER', why: 'required' };
  const wrong: Reason = { ...required, why: 'pattern', allowed: ['47??', '48??'] };
  expect(told([required])).toMatchInlineSnapshot(`
    "Variable COST_CENTER has to be set here.

    [VARIABLE_NOT_ALLOWED] job "e2e-large" was not started.
      COST_CENTER: not set
    Retrying will fail again. Set COST_CENTER in the job, the pipeline or the CI/CD settings.
    Decision: d-01JABC"
  `);
  expect(told([wrong])).toMatchInlineSnapshot(`
    "Variable COST_CENTER has a value that is not allowed here.

    [VARIABLE_NOT_ALLOWED] job "e2e-large" was not started.
      COST_CENTER: its value matches none of 47?? or 48??
    Retrying will fail again. Give the variable a value that matches 47?? or 48??, or remove it.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(wrong)).toMatchInlineSnapshot(`
    "Variable COST_CENTER has a value that is not allowed here.

    [VARIABLE_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Give the variable another value, or remove it.
    Decision: d-01JABC"
  `);
  expect(told([{ ...required, why: 'denied' }])).toMatchInlineSnapshot(`
    "Variable COST_CENTER has a value that is not allowed here.

    [VARIABLE_NOT_ALLOWED] job "e2e-large" was not started.
      COST_CENTER: its value is denied
    Retrying will fail again. Give the variable another value, or remove it.
    Decision: d-01JABC"
  `);
  expect(told([{ code: 'FIELD_MISSING', field: 'variables.COST_CENTER' }])).toMatchInlineSnapshot(`
    "COST_CENTER of this job is not known, and a rule needs it.

    [FIELD_MISSING] job "e2e-large" was not started. Nothing is wrong with your code.
      variable COST_CENTER: masked, a file, or built from what cannot be known
    Retrying will fail again. Set the variable COST_CENTER to plain text, not masked and no file.
    If it is there already, show this message to the team that runs CI.
    Decision: d-01JABC"
  `);
});
