/** Caps: limits that each pipeline, job name or user of a place has by itself. */
import { describe, expect, test } from 'vitest';
import { expiresAtSeconds, expiring, isClosable } from '../../../functions/core/ledger/retention.ts';
import { userIdOf } from '../../../functions/core/ledger/user-ids.ts';
import { hasManyRoots } from '../../../policies/claim.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { mostCountersPerJob } from '../../../policies/limits/counters-per-job.ts';
import { limitOfCounter } from '../../../policies/limits/limits.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits, using } from '../documents.ts';

const RULES = ['budget', 'concurrency', 'window'].map((kind) => ({ id: kind, kind, mode: 'enforce' }));
const policy = aPolicy({ rules: RULES });

const aJob: AdmissionRequest = {
  jobId: 1,
  jobName: 'unit 1/2',
  projectId: 1,
  namespaceId: 104,
  rootNamespaceId: 100,
  pipelineId: 900,
  userId: 5,
};

function evaluated(limits: readonly object[], over: Partial<AdmissionRequest> = {}) {
  const set = someLimits({ limits }, policy, aDirectory);
  return evaluate({ ...aJob, ...over }, using(policy, set, { directory: aDirectory }));
}

const subjects = (limits: readonly object[], over: Partial<AdmissionRequest> = {}) =>
  evaluated(limits, over).claims.map(({ counter }) => counter.subject);

const refused = (limit: object): readonly string[] => {
  const parsed = parseLimits({ limits: [limit] }, 'limits-1', policy);
  return parsed.ok ? [] : parsed.problems.map(problemText);
};

describe('whose counter a job counts in', () => {
  const money = (on: object, per = 'once') => [{ on, money: 20, per }];

  test.each([
    ['pipeline', 'once', '900'],
    ['pipeline_job', 'once', '900/unit 1/2'],
    ['job', 'day', '1/unit 1/2'],
    ['user', 'day', '5'],
    ['bot', 'day', '5'],
    ['merge_request', 'once', '4711'],
    ['schedule', 'day', '1/0f3a'],
  ])('each %s of a group has one of its own', (each, per, name) => {
    const over = {
      mergeRequestId: 4711,
      pipelineSource: each === 'schedule' ? 'schedule' : 'merge_request_event',
      scheduleDigest: '0f3a',
      byBot: true,
    };
    expect(subjects(money({ each, group: 101 }, per), over)).toEqual([`group/101/each/${each}/${name}`]);
  });

  test('who is refused is told which pipeline of which group', () => {
    const [claim] = evaluated(money({ each: 'pipeline', group: 101 })).claims;
    expect(claim?.refusal({ committed: 20_000_000, settled: 0 })).toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      subjectLabel: 'pipeline 900 in group acme/payments',
    });
    expect(claim?.outage?.policy, 'a relay never knows the room of every pipeline').toBe('admit');
  });

  test.each<[string, Partial<AdmissionRequest>, string | undefined]>([
    ['merge_request', { pipelineSource: 'push', mergeRequestId: 4711 }, undefined],
    ['merge_request', { pipelineSource: 'parent_pipeline' }, undefined],
    ['merge_request', { pipelineSource: 'merge_request_event' }, 'mergeRequestId'],
    ['merge_request', { mergeRequestId: 4711 }, 'pipelineSource'],
    ['schedule', { pipelineSource: 'push', scheduleDigest: '0f3a' }, undefined],
    ['schedule', { pipelineSource: 'schedule' }, 'scheduleDigest'],
    ['bot', { byBot: false }, undefined],
    ['bot', {}, 'byBot'],
  ])('each %s asks nothing of %o, or misses %s', (each, over, missing) => {
    const on = { each, group: 101 };
    const set = someLimits(
      { limits: money(on, each === 'merge_request' ? 'once' : 'day') },
      policy,
      aDirectory,
    );
    const strict = aPolicy({ rules: RULES.map((rule) => ({ ...rule, on_missing: 'reject' })) });
    const { claims, violations } = evaluate(
      { ...aJob, ...over },
      using(strict, set, { directory: aDirectory }),
    );
    expect(claims).toEqual([]);
    expect(violations.map(({ reason }) => 'field' in reason && reason.field)).toEqual(
      missing === undefined ? [] : [missing],
    );
  });

  test('a user with a limit of their own does not have the default of its kind', () => {
    const byDefault = { on: { each: 'user' }, money: 20, per: 'month' };
    expect(subjects([byDefault])).toEqual(['instance/each/user/5']);
    expect(subjects([byDefault, { on: { user: 5 }, money: 90, per: 'week' }])).toEqual(['user/5']);
    expect(subjects([byDefault, { on: { user: 5 }, jobs: 3 }])).toEqual(['user/5', 'instance/each/user/5']);
  });
});

describe('what a document may not say of a cap', () => {
  test.each([
    [{ each: 'branch' }, { per: 'once' }],
    [{ each: 'pipeline', group: 101, project: 1 }, { per: 'once' }],
    [{ each: 'pipeline', user: 5 }, { per: 'once' }],
    [{ each: 'pipeline' }, { per: 'month' }],
    [{ each: 'user' }, { per: 'once' }],
    [{ each: 'user' }, { per: 'month', carry: { max: '20%' } }],
    [{ each: 'user' }, { per: 'month', thresholds: [50] }],
    [{ each: 'user' }, { per: 'month', when_unreachable: 'reject' }],
  ])('%o %o', (on, more) => {
    expect(refused({ on, money: 5, ...more })).toHaveLength(1);
  });
});

describe('counters', () => {
  const limits = [
    { on: { each: 'pipeline', group: 101 }, money: 5, per: 'once' },
    { on: { each: 'user', group: 104 }, money: 5, per: 'month' },
    { on: { group: 104 }, money: 7, per: 'month' },
  ];
  const set = someLimits({ limits }, policy, aDirectory);
  const key = (subject: string, limit: string, period: string) => ({ subject, limit, period });
  const ofPipeline = key('group/101/each/pipeline/900', 'money-once', 'once');
  const ofUser = key('group/104/each/user/5', 'money-month', '2026-11');

  test('each is found by the limit written for all of them, not by its group’s of the same name', () => {
    expect(limitOfCounter(ofUser, set, aDirectory, NOW_MS)?.amount).toBe(5_000_000);
    expect(limitOfCounter(ofPipeline, set, aDirectory, NOW_MS)?.subject).toBe(ofPipeline.subject);
  });

  test('all of those that one job meets count', () => {
    expect(mostCountersPerJob(set, aDirectory)).toEqual({ counters: 3, group: 'acme/payments/cards' });
    expect(mostCountersPerJob(set, undefined).counters).toBe(3);
  });

  test('all end by themselves: nothing closes them and no record is kept for them', () => {
    const nowSeconds = NOW_MS / 1000;
    const DAY = 86_400;
    const ends = (counter: typeof ofUser) =>
      expiring({ key: counter } as Parameters<typeof expiring>[0], NOW_MS);
    expect(ends(ofPipeline)).toMatchObject({ expiresAtSeconds: nowSeconds + 35 * DAY });
    const { expiresAtSeconds: userEnds = 0, closeAtMs } = ends(ofUser) as {
      expiresAtSeconds?: number;
      closeAtMs?: number;
    };
    expect(closeAtMs).toBeUndefined();
    expect(userEnds).toBeGreaterThan(nowSeconds + 90 * DAY);
    expect(userEnds).toBeLessThan(nowSeconds + 110 * DAY);
    expect(isClosable(ofUser, NOW_MS + 400 * DAY * 1000)).toBe(false);
    expect(expiresAtSeconds(NOW_MS, [{ counter: ofPipeline }])).toBe(nowSeconds + 122 * DAY);
  });

  test('a user is found by their id in every counter of theirs, and in no other', () => {
    expect(userIdOf('group/104/each/user/5')).toBe(5);
    expect(userIdOf('instance/each/bot/5')).toBe(5);
    expect(userIdOf('instance/each/pipeline/5')).toBeUndefined();
    expect(userIdOf('project/1/each/job/1/user/5')).toBeUndefined();
  });

  test('a pipeline is of one root; a user is not', () => {
    expect(hasManyRoots(key('instance/each/pipeline/9', 'money-once', 'once'))).toBe(false);
    expect(hasManyRoots(key('instance/each/user/5', 'money-month', '2026-11'))).toBe(true);
    expect(hasManyRoots(ofUser)).toBe(false);
  });
});
