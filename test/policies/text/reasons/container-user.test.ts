import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import { told, toldDiscreetly } from '../told.ts';

test('a container user', () => {
  const root: Reason = { code: 'CONTAINER_USER_NOT_ALLOWED', part: 'user', asked: 'root', allowed: [] };
  expect(told([root])).toMatchInlineSnapshot(`
    "The container may not run as user "root" here.

    [CONTAINER_USER_NOT_ALLOWED] job "e2e-large" was not started.
      container user "root" of the job; allowed: any but root
    Retrying will fail again. Set "user" under "image:kubernetes" or "image:docker" to anything but root (0).
    Decision: d-01JABC"
  `);
  const group: Reason = {
    code: 'CONTAINER_USER_NOT_ALLOWED',
    part: 'group',
    asked: '0',
    allowed: ['1000', '1001'],
    service: 'postgres:16',
  };
  expect(told([group])).toMatchInlineSnapshot(`
    "Service "postgres:16" may not run as group "0" here.

    [CONTAINER_USER_NOT_ALLOWED] job "e2e-large" was not started.
      container group "0" of service "postgres:16"; allowed: 1000 or 1001
    Retrying will fail again. Set the group in "user" (uid:gid) of the service to 1000 or 1001.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(group)).toMatchInlineSnapshot(`
    "Service "postgres:16" may not run as group "0" here.

    [CONTAINER_USER_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Change the group in "user" (uid:gid) of the service.
    Decision: d-01JABC"
  `);
  expect(told([{ ...root, asked: '$USER_ID', invalid: true } as Reason])).toMatchInlineSnapshot(`
    "The container asks for user "$USER_ID"; only a number is allowed here.

    [CONTAINER_USER_NOT_ALLOWED] job "e2e-large" was not started.
      container user "$USER_ID" of the job: not a number
    Retrying will fail again. Write "user" under "image:kubernetes" or "image:docker" as a number, without a name or a variable.
    Decision: d-01JABC"
  `);
});

test('no container user where one is needed', () => {
  const none: Reason = {
    code: 'CONTAINER_USER_NOT_ALLOWED',
    part: 'user',
    asked: '',
    allowed: [],
    executor: 'kubernetes',
  };
  expect(told([none])).toMatchInlineSnapshot(`
    "The container has to name the user it runs as here.

    [CONTAINER_USER_NOT_ALLOWED] job "e2e-large" was not started.
      no container user of the job; allowed: any but root
    Retrying will fail again. Set "user" under "image:kubernetes" to anything but root (0).
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly({ ...none, service: 'redis:7' })).toMatchInlineSnapshot(`
    "Service "redis:7" has to name the user it runs as here.

    [CONTAINER_USER_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Set "user" under "kubernetes" of the service.
    Decision: d-01JABC"
  `);
});
