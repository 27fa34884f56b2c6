import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { type FallbackCause, undecided } from '../../../relay/exchange.ts';
import {
  createFallback,
  type Fallback,
  type FallbackAnswer,
  UNREADABLE_PER_HOUR,
} from '../../../relay/fallback/fallback.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { aDirectory, aPolicy } from '../../policies/documents.ts';
import { range } from '../../support/relay/commit-bench.ts';
import { admittedOf, quotaViolation, rejectedFor } from '../../support/relay/decisions.ts';

const job = {
  jobId: 1,
  jobName: 'build',
  projectId: 1,
  namespaceId: 104,
  rootNamespaceId: 100,
  image: 'evil/a',
};
const HOUR_MS = 3_600_000;
const images = (parts: object = {}): object => ({
  id: 'images',
  kind: 'image',
  mode: 'enforce',
  allow: ['good/**'],
  ...parts,
});

interface Setting {
  readonly rules?: readonly object[];
  readonly costAndCapacity?: 'admit' | 'reject';
  readonly withDirectory?: boolean;
}

function fallbackOf(setting: Setting = {}): { readonly fallback: Fallback; readonly clock: HandClock } {
  const clock = handClock(1_000);
  const policy = setting.rules && aPolicy({ rules: setting.rules });
  const fallback = createFallback({
    clock: { ...clock, nowMs: () => 0 },
    policy: () => policy,
    directory: () => (setting.withDirectory ? aDirectory : undefined),
    costAndCapacity: setting.costAndCapacity ?? 'admit',
    newDecisionId: () => 'f-1',
  });
  return { fallback, clock };
}

/** `admitted`, or the code of the first violation and its rule. */
function said({ answer, decision }: FallbackAnswer): string {
  if (answer.outcome === 'admitted') return 'admitted';
  expect(answer.reason).not.toBe('');
  if (decision?.outcome !== 'rejected') return 'rejected without a decision';
  expect(decision.text).toBe(answer.reason);
  const [{ rule, reason }] = decision.violations;
  return `${reason.code} ${rule}`;
}

const OUR_FAULTS: readonly FallbackCause[] = ['deadline', 'unavailable', 'circuit_open', 'queue_full'];
const THEIRS: readonly FallbackCause[] = ['invalid', 'unreadable', 'oversized'];

test.each([...OUR_FAULTS, ...THEIRS])('with `reject`, %s rejects and says it is our fault', (cause) => {
  const { fallback } = fallbackOf({ costAndCapacity: 'reject' });
  const given = fallback.answer(job, cause);
  expect(said(given)).toBe('CONTROLLER_ERROR fallback');
  expect(given.answer).toMatchObject({ reason: expect.stringContaining('Your job is not the cause') });
  expect(given.answer).toMatchObject({ reason: expect.stringContaining('f-1') });
});

test.each<[string, Setting, object, string]>([
  ['a violated one rejects', { rules: [images()] }, {}, 'IMAGE_NOT_ALLOWED images'],
  ['one that is met does not', { rules: [images()] }, { image: 'good/a' }, 'admitted'],
  ['one in shadow does not', { rules: [images({ mode: 'shadow' })] }, {}, 'admitted'],
  ['whatever its class', { rules: [images({ class: 'cost' })] }, {}, 'IMAGE_NOT_ALLOWED images'],
  [
    'not one the job is exempt from',
    { rules: [images({ exempt: [{ projects: [1], reason: 'r', until: 'never' }] })] },
    { projectId: 1 },
    'admitted',
  ],
  [
    'one that cannot be evaluated closes',
    { rules: [images({ match: { groups: [101] } })] },
    {},
    'CONTROLLER_ERROR images',
  ],
  [
    'one that can, with the directory, decides',
    { rules: [images({ match: { groups: [102] } })], withDirectory: true },
    {},
    'admitted',
  ],
  ['without a policy there are none', {}, {}, 'admitted'],
  [
    'a violation comes before the operator’s word',
    { rules: [images()], costAndCapacity: 'reject' },
    {},
    'IMAGE_NOT_ALLOWED images',
  ],
])('security rules: %s', (_, setting, parts, expected) => {
  expect(said(fallbackOf(setting).fallback.answer({ ...job, ...parts }, 'unavailable'))).toBe(expected);
});

test('who was refused within the last minute is refused again with that reason, and not after it', () => {
  const { fallback, clock } = fallbackOf();
  fallback.noted(job, rejectedFor(quotaViolation('group/100'), 'No budget until Monday.'));
  clock.advance(59_999);
  const neighbour = { ...job, jobId: 2, projectId: 9, namespaceId: 102 };
  const given = fallback.answer(neighbour, 'circuit_open');
  expect(said(given)).toBe('BUDGET_EXHAUSTED budgets');
  expect(given.answer).toMatchObject({
    reason: expect.stringMatching(/^No budget until Monday\.\n.*60 s ago/),
  });
  expect(said(fallback.answer({ ...job, rootNamespaceId: 190, namespaceId: 190 }, 'circuit_open'))).toBe(
    'admitted',
  );
  clock.advance(1);
  expect(said(fallback.answer(neighbour, 'circuit_open'))).toBe('admitted');
});

test('20 unread questions are admitted per project and hour', () => {
  const { fallback, clock } = fallbackOf();
  fallback.noted(job, undecided('deadline'));
  expect(UNREADABLE_PER_HOUR).toBe(20);
  const ask = (project: number | undefined, times: number): string[] =>
    range(1, times).map(() => said(fallback.answerUnread(project, 'unreadable')));
  expect(ask(7, UNREADABLE_PER_HOUR)).toEqual(Array(UNREADABLE_PER_HOUR).fill('admitted'));
  expect(ask(7, 2)).toEqual(Array(2).fill('CONTROLLER_ERROR unreadable-allowance'));
  expect(ask(8, 1)).toEqual(['admitted']);
  expect(ask(undefined, 100)).toEqual(Array(100).fill('admitted'));
  clock.advance(HOUR_MS);
  expect(ask(7, 1)).toEqual(['admitted']);
});

test.each(THEIRS)(
  'a job that can make itself %s counts in the allowance, whatever name it goes by',
  (cause) => {
    const { fallback } = fallbackOf();
    fallback.noted(job, undecided(cause));
    for (const _ of range(2, UNREADABLE_PER_HOUR)) expect(said(fallback.answer(job, cause))).toBe('admitted');
    expect(said(fallback.answerUnread(job.projectId, 'unreadable'))).toBe('admitted');
    expect(said(fallback.answer(job, cause))).toBe('CONTROLLER_ERROR unreadable-allowance');
  },
);

test('security rules close on what cannot be read, unless they are told to open', () => {
  const closed = fallbackOf({ rules: [images()] }).fallback;
  closed.noted(job, admittedOf(job));
  expect(said(closed.answerUnread(7, 'unreadable'))).toBe('CONTROLLER_ERROR images');
  const open = fallbackOf({
    rules: [images({ on_error: 'open' }), images({ id: 'b', mode: 'shadow' })],
  }).fallback;
  open.noted(job, admittedOf(job));
  expect(said(open.answerUnread(7, 'unreadable'))).toBe('admitted');
});

describe('recent rejections', () => {
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

  const isRefused = (fallback: Fallback, request: AdmissionRequest): boolean =>
    fallback.answer(request, 'unreachable').answer.outcome === 'rejected';

  test.each([
    ['instance', stranger],
    ['group/100', { ...stranger, rootNamespaceId: 100 }],
    ['group/104', { ...stranger, namespaceId: 104 }],
    ['project/1', { ...stranger, projectId: 1 }],
    ['user/5', { ...stranger, userId: 5 }],
  ])('a refusal of %s holds for another job of it', (subject, other) => {
    const { fallback } = fallbackOf();
    fallback.noted(job, rejectedFor(quotaViolation(subject)));
    expect(isRefused(fallback, other)).toBe(true);
    if (subject !== 'instance') expect(isRefused(fallback, stranger)).toBe(false);
  });

  test('an admission lifts what its own subjects were refused, and nobody else’s', () => {
    const { fallback } = fallbackOf();
    fallback.noted(job, rejectedFor(quotaViolation('project/1')));
    fallback.noted(stranger, rejectedFor(quotaViolation('project/2')));
    fallback.noted({ ...job, jobId: 9 }, admittedOf({ jobId: 9 }));
    expect([job, stranger].map((each) => isRefused(fallback, each))).toEqual([false, true]);
  });

  test('a refusal of a runner class holds for runners of the same tags, and for the project if the tags are unknown', () => {
    const { runnerTags: _, ...untagged } = job;
    const { runnerTags: __, ...other } = stranger;
    const { fallback } = fallbackOf();
    fallback.noted(job, rejectedFor(quotaViolation('runner-class/large')));
    expect(isRefused(fallback, { ...stranger, runnerTags: ['linux', 'large'] })).toBe(true);
    expect(isRefused(fallback, stranger)).toBe(false);
    const { fallback: unknown } = fallbackOf();
    unknown.noted(untagged, rejectedFor(quotaViolation('runner-class/large')));
    expect(isRefused(unknown, untagged)).toBe(true);
    expect(isRefused(unknown, other)).toBe(false);
  });

  test('what is frozen is refused to jobs of the same project', () => {
    const { fallback } = fallbackOf();
    const reason = { code: 'GROUP_FROZEN', frozenLabel: 'everything', zone: 'UTC' } as const;
    fallback.noted(job, rejectedFor({ rule: 'freezes', class: 'capacity', mode: 'enforce', reason }));
    expect([{ ...job, jobId: 2 }, stranger].map((each) => isRefused(fallback, each))).toEqual([true, false]);
  });

  test.each([
    ['a used-up budget', quotaViolation('group/100', 'BUDGET_EXHAUSTED'), true],
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
    const { fallback } = fallbackOf();
    fallback.noted(job, rejectedFor(violation));
    expect(isRefused(fallback, job)).toBe(lasts);
  });
});
