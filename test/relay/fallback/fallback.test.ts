import { expect, test } from 'vitest';
import {
  createFallback,
  type Fallback,
  type FallbackAnswer,
  UNREADABLE_PER_HOUR,
} from '../../../relay/fallback/fallback.ts';
import { statelessCheck } from '../../../relay/fallback/stateless-check.ts';
import { type FallbackCause, undecided } from '../../../relay/verdict.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { aDirectory, aPolicy } from '../../policies/documents.ts';
import { range } from '../../support/relay/commit-bench.ts';
import { admittedOf, quotaViolation, rejectedFor } from '../../support/relay/verdicts.ts';

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
  readonly unreadablePerHour?: number;
  readonly withDirectory?: boolean;
}

function fallbackOf(setting: Setting = {}): { readonly fallback: Fallback; readonly clock: HandClock } {
  const clock = handClock(1_000);
  const policy = setting.rules && aPolicy({ rules: setting.rules });
  const fallback = createFallback({
    clock,
    stateless: statelessCheck(policy, { nowMs: () => 0 }, () =>
      setting.withDirectory ? aDirectory : undefined,
    ),
    costAndCapacity: setting.costAndCapacity ?? 'admit',
    newDecisionId: () => 'f-1',
    ...(setting.unreadablePerHour !== undefined && { unreadablePerHour: setting.unreadablePerHour }),
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

const OUR_FAULTS: readonly FallbackCause[] = [
  'deadline',
  'contended',
  'unavailable',
  'error',
  'circuit_open',
  'unreachable',
  'refused',
  'malformed',
  'queue_full',
  'stopping',
];
const THEIRS: readonly FallbackCause[] = ['invalid', 'unreadable', 'oversized'];

test.each([...OUR_FAULTS, ...THEIRS])('cost and capacity fall open when the cause is %s', (cause) => {
  const { fallback } = fallbackOf({ rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] });
  fallback.noted(job, undecided(cause));
  expect(said(fallback.answer(job, cause))).toBe('admitted');
});

test.each([...OUR_FAULTS, ...THEIRS])('with `reject`, %s rejects and says it is our fault', (cause) => {
  const { fallback } = fallbackOf({ costAndCapacity: 'reject' });
  const given = fallback.answer(job, cause);
  expect(said(given)).toBe('CONTROLLER_ERROR fallback');
  expect(given.answer).toMatchObject({ reason: expect.stringContaining('not the fault of the job') });
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

test('the message of the violated rule reaches the user', () => {
  const { fallback } = fallbackOf({ rules: [images({ message: 'Ask #platform for an image.' })] });
  expect(fallback.answer(job, 'deadline').answer).toMatchObject({
    reason: expect.stringContaining('Ask #platform'),
  });
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

test('a refusal given by the fallback itself is not counted as the ledger’s', () => {
  const { fallback, clock } = fallbackOf();
  fallback.noted(job, rejectedFor(quotaViolation('group/100')));
  clock.advance(50_000);
  fallback.answer(job, 'unavailable');
  fallback.noted(job, undecided('unavailable'));
  clock.advance(10_000);
  expect(said(fallback.answer(job, 'unavailable'))).toBe('admitted');
});

test('an admission lifts the refusal', () => {
  const { fallback } = fallbackOf();
  fallback.noted(job, rejectedFor(quotaViolation('group/100')));
  fallback.noted({ ...job, jobId: 2 }, admittedOf({ jobId: 2 }));
  expect(said(fallback.answer(job, 'unavailable'))).toBe('admitted');
});

test('a refusal with a text far too long is still refused within the bound', () => {
  const { fallback } = fallbackOf();
  fallback.noted(job, rejectedFor(quotaViolation('group/100'), 'x'.repeat(50_000)));
  const { answer } = fallback.answer(job, 'unavailable');
  expect(answer.outcome === 'rejected' && answer.reason.length).toBeLessThan(500);
});

test('unread questions that name no project are admitted without limit: no rule and no count may reject everybody', () => {
  const { fallback } = fallbackOf({ rules: [images()] });
  const given = range(1, 200).map(() => said(fallback.answerUnread(undefined, 'unreadable')));
  expect(new Set(given)).toEqual(new Set(['admitted']));
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
    const { fallback } = fallbackOf({ unreadablePerHour: 2 });
    fallback.noted(job, undecided(cause));
    expect(said(fallback.answer(job, cause))).toBe('admitted');
    expect(said(fallback.answerUnread(job.projectId, 'unreadable'))).toBe('admitted');
    expect(said(fallback.answer(job, cause))).toBe('CONTROLLER_ERROR unreadable-allowance');
  },
);

test('our own faults take nothing from the allowance', () => {
  const { fallback } = fallbackOf({ unreadablePerHour: 1 });
  for (const cause of OUR_FAULTS) {
    fallback.noted(job, undecided(cause));
    expect(said(fallback.answer(job, cause))).toBe('admitted');
  }
  expect(said(fallback.answer(job, 'invalid'))).toBe('admitted');
});

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
