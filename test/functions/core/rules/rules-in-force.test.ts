/** What limits that change while jobs are asked about must come to. */
import { expect, test } from 'vitest';
import { createAdmitApp } from '../../../../functions/admit/app.ts';
import { ADMISSIONS_PATH, UNMETERED_PATH } from '../../../../functions/core/contract/admissions.ts';
import { type LedgerClock, silentLog } from '../../../../functions/core/environment/environment.ts';
import { chargeBypass } from '../../../../functions/core/job-ends/charge-bypass.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { publishLimits } from '../../../../functions/core/limits/publish-limits.ts';
import { rulesInForce } from '../../../../functions/core/rules.ts';
import type { Decision } from '../../../../policies/decision.ts';
import type { Reason } from '../../../../policies/reason.ts';
import { flowRules } from '../../../support/flow/flow.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { type LimitOperation, memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

const MICROS = 1_000_000;
const MONTH = { on: { group: 101 }, per: 'month' };

/** A job is taken to cost 1.00; packed is a limit of 1 a month on acme/payments. */
function build() {
  let passedMs = 0;
  const clock: LedgerClock = {
    nowMs: () => NOVEMBER_21_MS + passedMs,
    monotonicMs: () => performance.now() + passedMs,
    sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
  };
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const reads: Partial<Record<LimitOperation, number>> = {};
  let isPublishing = false;
  const table = memoryLimitTable((operation) => {
    if (!isPublishing) reads[operation] = (reads[operation] ?? 0) + 1;
    return undefined;
  });
  const packed = flowRules([{ ...MONTH, money: 1 }], [IMAGES]);
  const ledger = createLedger({ store, clock });
  const rules = rulesInForce(packed, { table, ledger, clock, log: silentLog });
  const app = createAdmitApp({ ledger, currentRules: rules.rulesFor, clock, log: silentLog });
  const post = async (path: string, body: unknown): Promise<unknown> =>
    (await app.request(path, { method: 'POST', body: JSON.stringify(body) })).json();
  let jobs = 0;
  return {
    ledger,
    rules,
    reads,
    post,
    /** The next jobs, all in one batch. */
    decide: async (count = 1, more: object = {}): Promise<readonly Decision[]> => {
      const requests = Array.from({ length: count }, () => {
        jobs += 1;
        return { ...aRequest(jobs), ...more };
      });
      const answer = await post(ADMISSIONS_PATH, { requests, remainingMs: 20_000 });
      return (answer as { decisions: Decision[] }).decisions;
    },
    publish: async (document: object): Promise<void> => {
      isPublishing = true;
      const live = await table.getPointer({ timeoutMs: 300_000 });
      const outcome = await publishLimits(
        document,
        {
          actor: 'finance',
          why: 'test',
          source: 'test',
          atMs: clock.nowMs(),
          ...(live && { base: live.set }),
        },
        { table, policy: packed.policy, ...(packed.directory && { directory: packed.directory }) },
      );
      isPublishing = false;
      if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
    },
    settle: (jobId: number, minutes: number) =>
      ledger.settle([{ jobId, durationSeconds: minutes * 60, endedAtMs: clock.nowMs() }]),
    advanceTo: (atMs: number): void => {
      passedMs = atMs - NOVEMBER_21_MS;
    },
    advance: (ms: number): void => {
      passedMs += ms;
    },
  };
}

test('a limit raised a moment ago lets in what the limits read before would reject', async () => {
  const { decide, publish, reads } = build();
  await publish({ limits: [{ ...MONTH, money: 2 }] });
  expect(words(await decide(3))).toEqual(['admitted', 'admitted', 'BUDGET_EXHAUSTED']);
  await publish({ limits: [{ ...MONTH, money: 4 }] });
  reads.getPointer = 0;
  expect(words(await decide(3))).toEqual(['admitted', 'admitted', 'BUDGET_EXHAUSTED']);
  expect(reads.getPointer).toBe(1);
});

test('a limit lowered below what is committed ends no job and rejects the next, with the new number', async () => {
  const { decide, publish, advance, ledger } = build();
  await publish({ limits: [{ ...MONTH, money: 5 }] });
  expect(words(await decide(3))).toEqual(['admitted', 'admitted', 'admitted']);
  await publish({ limits: [{ ...MONTH, money: 1 }] });
  advance(5_000);
  const [next] = await decide();
  expect(reasonOf(next)).toMatchObject({
    code: 'BUDGET_EXHAUSTED',
    limitAmount: 1 * MICROS,
    committed: 3 * MICROS,
  });
  expect((await ledger.readRecords([1, 2, 3])).map((record) => record?.state)).toEqual(Array(3).fill('HELD'));
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test('a period that begins with a debt larger than its limit says so', async () => {
  const { decide, publish, settle, advanceTo } = build();
  await publish({ limits: [{ ...MONTH, money: 2, overdraft: 'carry' }] });
  await decide(1);
  await settle(1, 50);
  advanceTo(Date.UTC(2026, 11, 15));
  const [decision] = await decide();
  expect(reasonOf(decision)).toMatchObject({
    code: 'EXCEEDS_LIMIT_ALONE',
    limitAmount: 0,
    overdrawn: 3 * MICROS,
  });
  expect(decision?.outcome === 'rejected' && decision.text.split('\n')[0]).toBe(
    'CI jobs of group acme/payments are blocked: CI budget 0.00 EUR for December 2026, after an overdraft of 3.00 EUR.',
  );
});

test('answers without the ledger, and jobs nobody asked about, are charged on the live limits', async () => {
  const { post, publish, ledger, rules } = build();
  await publish({ limits: [{ ...MONTH, money: 9, id: 'ci' }] });
  const answeredAtMs = NOVEMBER_21_MS;
  const answer = { request: aRequest(1), answered: 'admitted', cause: 'deadline', answeredAtMs };
  expect(await post(UNMETERED_PATH, { answers: [answer] })).toEqual({
    results: [{ jobId: 1, outcome: 'recorded' }],
  });
  const gitlabJob = {
    ...({ jobId: 2, projectId: 1001, status: 'success', durationSeconds: 120 } as const),
    finishedAtMs: NOVEMBER_21_MS,
  };
  await chargeBypass([gitlabJob], {
    ledger,
    currentRules: rules.rulesFor,
    clock: { nowMs: () => NOVEMBER_21_MS },
    log: silentLog,
  });
  const key = { subject: 'group/101', limit: 'ci', period: '2026-11' };
  expect(await ledger.readCounters([key])).toMatchObject([
    { committed: 1_200_000, unchecked: { unmetered: 1_000_000, bypass: 200_000 } },
  ]);
});

const IMAGES = { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] };

const aRequest = (jobId: number) => ({
  jobId,
  jobName: `unit ${jobId}`,
  projectId: 1001,
  namespaceId: 101,
  rootNamespaceId: 100,
  image: 'alpine:3.22',
  timeoutSeconds: 3600,
});

const reasonOf = (decision: Decision | undefined): Reason | undefined =>
  decision?.outcome === 'rejected' ? decision.violations[0].reason : undefined;

const words = (decisions: readonly Decision[]): readonly string[] =>
  decisions.map((decision) =>
    decision.outcome === 'undecided' ? decision.cause : (reasonOf(decision)?.code ?? decision.outcome),
  );
