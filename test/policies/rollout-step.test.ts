import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import { MODES } from '../../policies/mode.ts';
import { compareModes, rolloutModes, rolloutPlaceOf, rolloutSubjects } from '../../policies/rollout.ts';
import {
  nextStep,
  ROLLOUT_CLASSES,
  ROLLOUT_DEFAULTS,
  type RolloutFacts,
  type RolloutStep,
  rolloutNeeds,
  rolloutStatus,
  stepBack,
  stepOn,
} from '../../policies/rollout-step.ts';
import { aDirectory, NOW_MS, someLimits } from './documents.ts';

const subjectsOf = (subject: string) => rolloutSubjects(rolloutPlaceOf(subject, aDirectory));
const SENT = '2026-11-10T09:00:00Z';

test.each<[string, object[], string, RolloutStep, string | undefined]>([
  ['a group above says it', [{ group: 100, cost: 'warn' }], 'group/104', 'warn', 'group/100'],
  [
    'a project says it for itself',
    [
      { group: 104, cost: 'enforce' },
      { project: 1, cost: 'off' },
    ],
    'project/1',
    'off',
    'project/1',
  ],
  [
    'the owner above has the report',
    [{ group: 100, cost: 'shadow', reported: SENT }],
    'group/104',
    'reported',
    'group/100',
  ],
  [
    'a report to somebody further up is none to this owner',
    [
      { group: 100, cost: 'warn', reported: SENT },
      { group: 101, cost: 'shadow' },
    ],
    'group/101',
    'shadow',
    'group/101',
  ],
])('where somebody stands: %s', (_, rollout, subject, step, from) => {
  const { rollouts } = someLimits({ rollout });
  const standing = rolloutStatus('cost', subjectsOf(subject), rollouts);
  expect([standing.step, standing.from]).toEqual([step, from]);
  // The other class is nobody's business here.
  expect(rolloutStatus('capacity', subjectsOf(subject), rollouts).step).toBe('enforce');
});

const ENOUGH: RolloutFacts = { days: 7, jobs: 1_000, wouldFail: 50, coveragePercent: 95, nowMs: NOW_MS };
const TOLD = NOW_MS - 2 * DAY_MS;

test.each<[string, RolloutStep, number | undefined, Partial<RolloutFacts>, string]>([
  ['nothing to begin', 'off', undefined, {}, ''],
  ['days, and the report', 'shadow', undefined, {}, 'days report!'],
  ['too few days', 'shadow', undefined, { days: 6 }, 'days! report!'],
  ['the owner had no time', 'reported', TOLD + 1, {}, 'days report! coverage'],
  ['runners bypass', 'reported', TOLD, { coveragePercent: 94.9 }, 'days report coverage!'],
  ['one too many would fail', 'warn', TOLD, { wouldFail: 51 }, 'days report coverage would-fail!'],
])('what the next step needs: %s', (_, step, reportedMs, over, expected) => {
  const facts = { ...ENOUGH, ...over };
  const needs = rolloutNeeds(
    { step, ...(reportedMs !== undefined && { reportedMs }) },
    facts,
    ROLLOUT_DEFAULTS,
  );
  expect(needs.map(({ code, met }) => `${code}${met ? '' : '!'}`).join(' ')).toBe(expected);
});

const anyEntry = fc.record(
  {
    cost: fc.constantFrom(...MODES),
    capacity: fc.constantFrom(...MODES),
    reported: fc.constant(SENT),
  },
  { requiredKeys: [] },
);
const anyRollout = fc
  .tuple(fc.option(anyEntry), fc.option(anyEntry), fc.option(anyEntry), fc.option(anyEntry))
  .map(([instance, acme, payments, project]) => [
    ...(instance ? [{ instance: true, ...instance }] : []),
    ...(acme ? [{ group: 100, ...acme }] : []),
    ...(payments ? [{ group: 101, ...payments }] : []),
    ...(project ? [{ project: 1, ...project }] : []),
  ]);

test('jobs are decided in the mode of the step, one step on is the next, and a step back never goes further', () => {
  fc.assert(
    fc.property(anyRollout, fc.constantFrom(...ROLLOUT_CLASSES), (rollout, ruleClass) => {
      const limits = someLimits({ rollout });
      const standing = rolloutStatus(ruleClass, subjectsOf('project/1'), limits.rollouts);
      const modes = rolloutModes(rolloutPlaceOf('project/1', aDirectory), limits);
      expect(modes[ruleClass]).toBe(standing.mode);
      expect(modes.security).toBe('enforce');
      const [on, back] = [stepOn(standing), stepBack(standing)];
      if (back !== undefined) expect(compareModes(back.mode, standing.mode)).toBeLessThanOrEqual(0);
      if (on !== undefined) expect(compareModes(on.mode, standing.mode)).toBe(1);
      expect(on === undefined).toBe(nextStep(standing.step) === undefined);
    }),
  );
});
