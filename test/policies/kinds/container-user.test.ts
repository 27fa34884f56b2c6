import { expect, test } from 'vitest';
import type { Reason } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { reasonsOf } from './checking.ts';

const reasons = (rule: object, request: Partial<AdmissionRequest>): readonly Reason[] =>
  reasonsOf({ kind: 'container-user', ...rule }, request);

const parts = (found: readonly Reason[]): string =>
  found
    .map(
      (each) => `${'part' in each ? each.part : '?'}${'invalid' in each && each.invalid === true ? '!' : ''}`,
    )
    .join(' ');

const LISTED = { users: ['1000', 65534], groups: [1001] };

// What is wrong: user, group, with ! where it is no number.
test.each<[object, string, string, string]>([
  [{}, '0', 'user', 'but root'],
  [{}, '00', 'user', 'however many zeros it has'],
  [{}, '1000:0', 'group', 'and its group'],
  [{ users: ['0'] }, '0', '', 'root passes where it is listed'],
  [{ users: ['root'] }, '0', '', 'also by name'],
  [{ users: ['0'] }, '0:0', 'group', 'its group has a list of its own'],
  [LISTED, '01000', '', 'by its number'],
  [LISTED, '65534:1001', '', 'and a listed group'],
  [LISTED, '1000:1000', 'group', 'nor any other group'],
  [{}, 'node', 'user!', 'Kubernetes takes no names'],
  [{}, '-1', 'user!', 'no negative numbers'],
  [{}, '+0', 'user', 'also before root'],
  [LISTED, '1000:', '', 'an empty group is the image’s own'],
  [{ groups: ['1000'] }, ':1000', '', 'so is an empty user'],
  [{}, '1:2:3', 'user!', 'no more than two'],
  [{}, '4294967296', 'user!', 'nothing that might wrap to root'],
  [{ users: ['node'] }, 'node', 'user!', 'not even where the name is listed'],
  [{}, '$UID', 'user', 'what a variable will be is not known'],
])('Kubernetes with %j: %j is wrong in "%s": %s', (rule, kubernetesUser, wrong) => {
  expect(parts(reasons(rule, { kubernetesUser }))).toBe(wrong);
});

test.each<[object, string, string, string]>([
  [{}, 'node', '', 'Docker takes names'],
  [{}, 'root', 'user', 'but that of root'],
  [{}, '+0', 'user', 'which Docker reads with a sign'],
  [{}, 'root:root', 'user group', 'the group is looked at, too'],
  [{ users: ['0'] }, 'root', '', 'root listed by number passes by name'],
  [{ users: ['node'], groups: ['www'] }, 'node:www', '', 'listed names pass'],
  [{}, '-5', 'user!', 'negative numbers are none'],
  [{}, 'a:b:c', 'user!', 'nor is anything longer than a pair'],
  [{}, '$U', 'user', 'what a variable will be is not known'],
])('Docker with %j: %j is wrong in "%s": %s', (rule, dockerUser, wrong) => {
  expect(parts(reasons(rule, { dockerUser }))).toBe(wrong);
});

test('a job that names no user passes; so does one of a GitLab that does not send it', () => {
  expect(reasons(LISTED, {})).toEqual([]);
});

test('services are containers, too, and the reason names which', () => {
  const services = [
    { name: 'db:1', kubernetesUser: '0' },
    { name: 'ok', kubernetesUser: '1000' },
  ];
  expect(reasons({ users: [1000] }, { services })).toEqual([
    { code: 'CONTAINER_USER_NOT_ALLOWED', part: 'user', asked: '0', allowed: ['1000'], service: 'db:1' },
  ]);
});
