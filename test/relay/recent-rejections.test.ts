import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { REMEMBERED_MAX, REMEMBERED_MS, RecentRejections } from '../../relay/recent-rejections.ts';
import { undecided } from '../../relay/verdict.ts';
import { admittedOf, quotaViolation, rejectedFor } from './support/verdicts.ts';

const job: AdmissionRequest = {
  jobId: 1,
  projectId: 1,
  namespaceId: 104,
  rootNamespaceId: 100,
  userId: 5,
  runnerTags: ['large', 'linux'],
};
/** Shares nothing with {@link job} but the instance. */
const stranger: AdmissionRequest = {
  jobId: 2,
  projectId: 2,
  namespaceId: 204,
  rootNamespaceId: 200,
  userId: 6,
  runnerTags: ['small'],
};

function memory(): { readonly rejections: RecentRejections; readonly pass: (ms: number) => void } {
  let nowMs = 5_000;
  return {
    rejections: new RecentRejections(() => nowMs),
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

test.each([
  ['instance', stranger],
  ['group/100', { ...stranger, rootNamespaceId: 100 }],
  ['group/104', { ...stranger, namespaceId: 104 }],
  ['project/1', { ...stranger, projectId: 1 }],
  ['user/5', { ...stranger, userId: 5 }],
])('a refusal of %s holds for another job of it, and names what was refused', (subject, other) => {
  const { rejections } = memory();
  const verdict = rejectedFor(quotaViolation(subject));
  rejections.note(job, verdict);
  expect(rejections.find(other)).toEqual({ text: verdict.text, violations: verdict.violations, atMs: 5_000 });
  if (subject !== 'instance') expect(rejections.find(stranger)).toBeUndefined();
});

test('a runner class is known by its runner’s tags, in any order', () => {
  const { rejections } = memory();
  rejections.note(job, rejectedFor(quotaViolation('runner-class/large', 'CONCURRENCY_FULL')));
  expect(rejections.find({ ...stranger, runnerTags: ['linux', 'large'] })).toBeDefined();
  expect(rejections.find({ ...job, runnerTags: ['small'] })).toBeUndefined();
});

test.each(['group/101', 'runner-class/large'])(
  'where %s cannot be told from the request, only its project is refused again',
  (subject) => {
    const { rejections } = memory();
    const { runnerTags: _, ...untagged } = job;
    rejections.note(untagged, rejectedFor(quotaViolation(subject)));
    expect(rejections.find({ ...stranger, projectId: 1 })).toBeDefined();
    expect(rejections.find({ ...untagged, projectId: 3 })).toBeUndefined();
  },
);

test('a project without an id is known by its path, in any case', () => {
  const { rejections } = memory();
  rejections.note({ jobId: 1, projectPath: 'Acme/App' }, rejectedFor(quotaViolation('group/101')));
  expect(rejections.find({ jobId: 2, projectPath: 'acme/app' })).toBeDefined();
  expect(rejections.find({ jobId: 2, projectPath: 'acme/other' })).toBeUndefined();
});

test('a refusal holds for a minute and no longer, and a newer one starts the minute anew', () => {
  const { rejections, pass } = memory();
  rejections.note(job, rejectedFor(quotaViolation('group/100')));
  pass(REMEMBERED_MS - 1);
  expect(rejections.find(job)).toBeDefined();
  rejections.note(job, rejectedFor(quotaViolation('group/100')));
  pass(REMEMBERED_MS - 1);
  expect(rejections.find(job)).toBeDefined();
  pass(1);
  expect(rejections.find(job)).toBeUndefined();
});

test('an admission lifts what its own subjects were refused, and nobody else’s', () => {
  const { rejections } = memory();
  rejections.note(job, rejectedFor(quotaViolation('project/1')));
  rejections.note(stranger, rejectedFor(quotaViolation('project/2')));
  rejections.note({ ...job, jobId: 9 }, admittedOf({ jobId: 9 }));
  expect(rejections.find(job)).toBeUndefined();
  expect(rejections.find(stranger)).toBeDefined();
});

test('an undecided verdict neither refuses nor lifts', () => {
  const { rejections } = memory();
  rejections.note(job, undecided('unavailable'));
  expect(rejections.find(job)).toBeUndefined();
  rejections.note(job, rejectedFor(quotaViolation('group/100')));
  rejections.note(job, undecided('unavailable'));
  expect(rejections.find(job)).toBeDefined();
});

test.each([
  ['a used-up budget', quotaViolation('group/100', 'BUDGET_EXHAUSTED'), true],
  ['full slots', quotaViolation('group/100', 'CONCURRENCY_FULL'), true],
  ['a limit of 0', quotaViolation('group/100', 'EXCEEDS_LIMIT_ALONE', { limitAmount: 0 }), true],
  ['a job too large for a limit', quotaViolation('group/100', 'EXCEEDS_LIMIT_ALONE'), false],
  ['a limit in shadow', quotaViolation('group/100', 'BUDGET_EXHAUSTED', { mode: 'shadow' }), false],
  ['a security rule', quotaViolation('group/100', 'BUDGET_EXHAUSTED', { class: 'security' }), false],
  [
    'an image',
    {
      rule: 'images',
      class: 'cost',
      mode: 'enforce',
      reason: { code: 'IMAGE_NOT_ALLOWED', image: 'a', allowed: [] },
    } as const,
    false,
  ],
])('what %s says of the next job: refused again %s', (_, violation, lasts) => {
  const { rejections } = memory();
  rejections.note(job, rejectedFor(violation));
  expect(rejections.find(job) !== undefined).toBe(lasts);
});

test('every used-up limit of one refusal is remembered', () => {
  const { rejections } = memory();
  const verdict = rejectedFor(quotaViolation('user/5'));
  rejections.note(job, { ...verdict, violations: [...verdict.violations, quotaViolation('group/100')] });
  expect(rejections.find({ ...stranger, userId: 5 })).toBeDefined();
  expect(rejections.find({ ...stranger, rootNamespaceId: 100 })).toBeDefined();
});

test('beyond the bound the oldest refusal is forgotten, not the one just heard', () => {
  const { rejections } = memory();
  const ofProject = (projectId: number): AdmissionRequest => ({ jobId: projectId, projectId });
  for (let project = 1; project <= REMEMBERED_MAX; project += 1)
    rejections.note(ofProject(project), rejectedFor(quotaViolation(`project/${project}`)));
  // Heard again: no longer the oldest.
  rejections.note(ofProject(1), rejectedFor(quotaViolation('project/1')));
  rejections.note(ofProject(0), rejectedFor(quotaViolation('project/0')));
  expect([0, 1, 2, 3].map((project) => rejections.find(ofProject(project)) !== undefined)).toEqual([
    true,
    true,
    false,
    true,
  ]);
});
