/** What a rule of each kind may not say, and where that is reported. */
import { expect, test } from 'vitest';
import { problemsOf } from './checking.ts';

test.each<[kind: string, parts: object, place: string]>([
  ['container-user', { executors: [] }, '.executors: is empty'],
  ['container-user', { users: ['1000:1001'] }, '.users[0]: '],
  ['freeze', { windows: [] }, '.windows: is empty'],
  ['freeze', { windows: [{ from: '2026-02-30' }] }, '.windows[0].from: '],
  ['freeze', { windows: [{ from: '2026-12-31', until: '2026-12-30' }] }, '.windows[0].until: '],
  ['freeze', { windows: [{ days: ['fri'], from: '24:00' }] }, '.windows[0].from: '],
  ['freeze', { zone: '+01:00' }, '.zone: '],
  ['image', {}, ': has nothing to check'],
  ['image', { allow: ['a['] }, '.allow[0]: '],
  ['image', { allow: ['$REGISTRY/a'] }, '.allow[0]: '],
  ['image', { compare: 'normalised', tags: 'fixed' }, '.compare: compares nothing'],
  ['overwrites', {}, ': restricts nothing'],
  ['overwrites', { namespace: '(' }, '.namespace: '],
  ['overwrites', { bearer_token: '^x' }, '.bearer_token: '],
  ['pull-policy', {}, '.allow: names no pull policy'],
  ['pull-policy', { allow: ['sometimes'] }, '.allow[0]: '],
  ['resources', {}, ': has no caps'],
  ['resources', { build: { memory: '512m' } }, '.build.memory: '],
  ['resources', { build: { cpu: 'lots' } }, '.build.cpu: '],
  ['resources', { pod: { ephemeral_storage: '1Gi' } }, '.pod.ephemeral_storage: unknown key'],
  ['resources', { min: { job: { cpu: 1 } } }, '.min.job: unknown key'],
  ['runner-access', { allow: [{ users: [5] }] }, '.runner_classes: missing'],
  ['runner-access', { runner_classes: ['larg'], allow: [] }, '.runner_classes[0]: '],
  ['runner-access', { runner_classes: ['large'], allow: [{}] }, '.allow[0]: is empty'],
  ['services', {}, ': has nothing to check'],
  ['services', { max: -1 }, '.max: '],
  ['timeout', {}, '.max: missing'],
  ['variables', {}, ': has nothing to check'],
  ['variables', { require: ['DEPLOY_TOKEN'] }, ".require[0]: 'DEPLOY_TOKEN' looks like a secret"],
  ['variables', { allow: { KUBERNETES_CPU_LIMIT: ['1'] } }, '.allow.KUBERNETES_CPU_LIMIT: '],
  ['variables', { require: ['A'], match: { variables: {} } }, '.match.variables: is empty'],
  ['variables', { require: ['A'], exempt: [{ variables: { B: true }, reason: 'x' }] }, '.exempt[0]'],
])('%s with %j is refused at %s', (kind, parts, place) => {
  const problems = problemsOf({ kind, ...parts });
  expect(
    problems.some((each) => each.startsWith(`rules[0]${place}`)),
    problems.join('\n'),
  ).toBe(true);
});
