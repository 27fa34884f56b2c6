import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import {
  KINDS_MAX,
  REMEMBERED_MAX,
  REMEMBERED_MS,
  RecentRejections,
} from '../../../relay/fallback/recent-rejections.ts';
import { type LedgerVerdict, undecided } from '../../../relay/verdict.ts';
import { admittedOf, quotaViolation, rejectedFor } from '../../support/relay/verdicts.ts';

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

test('a pipeline that used up its cap refuses nobody else of its project', () => {
  const { rejections } = memory();
  rejections.note(job, rejectedFor(quotaViolation('group/100/each/pipeline/900')));
  expect(rejections.find({ ...job, jobId: 3 })).toBeUndefined();
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

const terms = (costMicros: number, estimateSeconds = 600) => ({
  runnerClass: 'small',
  estimateSeconds,
  costMicros,
  currency: 'EUR',
  group: 'acme',
});
const admittedAt = (costMicros: number, estimateSeconds?: number): LedgerVerdict => ({
  ...(admittedOf({ jobId: 9 }) as Extract<LedgerVerdict, { outcome: 'admitted' }>),
  terms: terms(costMicros, estimateSeconds),
});

test('an admission of as large a job lifts what its own subjects were refused, and nobody else’s', () => {
  const { rejections } = memory();
  rejections.note(job, rejectedFor(quotaViolation('project/1', 'BUDGET_EXHAUSTED', { asked: 500 })));
  rejections.note(stranger, rejectedFor(quotaViolation('project/2', 'BUDGET_EXHAUSTED', { asked: 500 })));
  rejections.note({ ...job, jobId: 9 }, admittedAt(500));
  expect(rejections.find(job)).toBeUndefined();
  expect(rejections.find(stranger)).toBeDefined();
});

test.each(['instance', 'group/100', 'project/1'])(
  'a smaller job that is admitted shows that there is room for its kind, and %s stays refused to all others',
  (subject) => {
    const { rejections } = memory();
    const small = { ...job, jobId: 9, jobName: 'lint' };
    rejections.note(
      { ...job, jobName: 'build' },
      rejectedFor(quotaViolation(subject, 'BUDGET_EXHAUSTED', { asked: 500 })),
    );
    rejections.note(small, admittedAt(499));
    expect(rejections.find({ ...job, jobName: 'build' })).toBeDefined();
    expect(rejections.find({ ...job, jobName: 'deploy' })).toBeDefined();
    expect(rejections.find({ ...small, jobId: 10 })).toBeUndefined();
  },
);

test('a smaller job without a name lifts nothing', () => {
  const { rejections } = memory();
  rejections.note(job, rejectedFor(quotaViolation('group/100', 'BUDGET_EXHAUSTED', { asked: 500 })));
  rejections.note({ ...job, jobId: 9 }, admittedAt(499));
  expect(rejections.find(job)).toBeDefined();
});

test.each([
  { code: 'WINDOW_FULL', unit: 'starts', guarantee: 'one start is one start', lifted: true },
  { code: 'CONCURRENCY_FULL', unit: 'jobs', guarantee: 'one job is one job', lifted: true },
  { code: 'BUDGET_EXHAUSTED', unit: 'seconds', guarantee: 'of minutes as many as asked', lifted: true },
  { code: 'CAPACITY_FULL', unit: 'millicpu', guarantee: 'nobody says how much CPU it has', lifted: false },
  { code: 'CAPACITY_FULL', unit: 'bytes', guarantee: 'nobody says how much memory it has', lifted: false },
] as const)('an admission and a refusal in $unit: $guarantee', ({ code, unit, lifted }) => {
  const { rejections } = memory();
  rejections.note(
    { ...job, jobName: 'build' },
    rejectedFor(quotaViolation('group/100', code, { unit, asked: 600 })),
  );
  rejections.note({ ...job, jobId: 9, jobName: 'lint' }, admittedAt(1, 600));
  expect(rejections.find({ ...job, jobName: 'deploy' }) === undefined).toBe(lifted);
});

test('another job of the same kind that is admitted asked the same: the refusal is over', () => {
  const { rejections } = memory();
  const build = { ...job, jobName: 'build' };
  rejections.note(
    build,
    rejectedFor(quotaViolation('group/100', 'CAPACITY_FULL', { unit: 'bytes', asked: 9 })),
  );
  rejections.note({ ...build, jobId: 9 }, admittedAt(1));
  expect(rejections.find({ ...job, jobName: 'deploy' })).toBeUndefined();
});

test.each([
  {
    shadow: quotaViolation('group/100', 'BUDGET_EXHAUSTED', { mode: 'shadow' }),
    why: 'did not fit this very limit',
  },
  {
    shadow: { ...quotaViolation('user/5', 'BUDGET_EXHAUSTED', { mode: 'shadow' }), exempt: true } as const,
    why: 'was exempt',
  },
  {
    shadow: {
      rule: 'glass',
      class: 'cost',
      mode: 'shadow',
      reason: { code: 'BREAK_GLASS', breakGlass: 'night', why: 'outage' },
    } as const,
    why: 'broke the glass',
  },
])('an admission of a job that $why shows nothing', ({ shadow }) => {
  const { rejections } = memory();
  rejections.note(job, rejectedFor(quotaViolation('group/100')));
  rejections.note(
    { ...job, jobId: 9 },
    { outcome: 'admitted', decisionId: 'd-9', terms: terms(500), shadow: [shadow] },
  );
  expect(rejections.find(job)).toBeDefined();
});

test('one limit of a subject does not stand for another: each is lifted by itself', () => {
  const { rejections } = memory();
  const build = { ...job, jobName: 'build' };
  rejections.note(build, rejectedFor(quotaViolation('group/100', 'BUDGET_EXHAUSTED', { asked: 500 })));
  rejections.note(
    build,
    rejectedFor(quotaViolation('group/100', 'WINDOW_FULL', { limit: 'starts-hour', unit: 'starts' })),
  );
  rejections.note({ ...job, jobName: 'lint' }, admittedAt(1));
  expect(rejections.find(build)?.violations).toMatchObject([{ reason: { code: 'BUDGET_EXHAUSTED' } }]);
});

test('a job too large for a limit refuses its own kind, and no other job', () => {
  const { rejections } = memory();
  const build = { ...job, jobName: 'build' };
  rejections.note(build, rejectedFor(quotaViolation('group/100', 'EXCEEDS_LIMIT_ALONE')));
  expect(rejections.find({ ...build, jobId: 2 }), 'what GitLab makes of retry').toBeDefined();
  expect(rejections.find({ ...job, jobName: 'lint' })).toBeUndefined();
});

test('what is frozen is refused to jobs of the same project on the same runners', () => {
  const { rejections } = memory();
  const reason = { code: 'GROUP_FROZEN', frozenLabel: 'everything', zone: 'UTC' } as const;
  rejections.note(job, rejectedFor({ rule: 'freezes', class: 'capacity', mode: 'enforce', reason }));
  expect(rejections.find({ ...job, jobId: 2 })).toBeDefined();
  expect(rejections.find({ ...job, jobId: 2, runnerTags: ['gpu'] })).toBeUndefined();
  expect(rejections.find(stranger)).toBeUndefined();
});

test('where the groups above a job are known, a group between is refused to all its projects', () => {
  const above = (request: AdmissionRequest) => (request.projectId === 9 ? [] : [101]);
  const rejections = new RecentRejections(() => 0, above);
  rejections.note(job, rejectedFor(quotaViolation('group/101')));
  expect(rejections.find({ ...stranger, projectId: 3 })).toBeDefined();
  expect(rejections.find({ ...stranger, projectId: 9 })).toBeUndefined();
});

test('the kinds that fitted are as many as are kept, and the oldest is refused again', () => {
  const { rejections } = memory();
  rejections.note(
    { ...job, jobName: 'build' },
    rejectedFor(quotaViolation('group/100', 'BUDGET_EXHAUSTED', { asked: 500 })),
  );
  for (let kind = 0; kind <= KINDS_MAX; kind += 1)
    rejections.note({ ...job, jobName: `lint ${kind}` }, admittedAt(1));
  expect(rejections.find({ ...job, jobName: 'lint 0' })).toBeDefined();
  expect(rejections.find({ ...job, jobName: `lint ${KINDS_MAX}` })).toBeUndefined();
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
  ['a full window', quotaViolation('group/100', 'WINDOW_FULL'), true],
  ['full CPU or memory', quotaViolation('group/100', 'CAPACITY_FULL'), true],
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

test('whom a limit lets wait it has refused, too', () => {
  const { rejections } = memory();
  const violation = quotaViolation('group/100', 'CONCURRENCY_FULL', { unit: 'jobs', limit: 'jobs-now' });
  rejections.note(job, {
    outcome: 'waiting',
    leftMs: 20_000,
    counters: ['group/100|jobs-now|now'],
    violations: [violation],
    text: 'full',
  });
  expect(rejections.find({ ...stranger, rootNamespaceId: 100 })).toMatchObject({ text: 'full' });
});
