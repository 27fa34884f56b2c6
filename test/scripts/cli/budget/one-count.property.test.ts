/** Page, API and command line count the same jobs that an edit would have failed, two of them by the latest ids, one by all records. */

import { join } from 'node:path';
import fc from 'fast-check';
import type { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import type { BacktestAnswer } from '../../../../functions/answers/limits/edit-models.ts';
import { placesOf } from '../../../../functions/answers/reading/scope.ts';
import { API_PATH, createApi } from '../../../../functions/console/api/create-api.ts';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLimitsDesk } from '../../../../functions/core/limits/create-limits-desk.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import type { SignInEnv } from '../../../../functions/core/signin/model.ts';
import { readDirectory, readPolicy } from '../../../../scripts/policy/read-documents.ts';
import { servedTo, USERS } from '../../../functions/console/house.ts';
import { someLimits } from '../../../policies/documents.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { aRequest } from '../ledger-bench.ts';
import { budgetBench } from './budget-bench.ts';

interface Life {
  readonly afterMinutes: number;
  readonly timeoutSeconds: number;
  /** Absent: it still runs. */
  readonly ranSeconds: number | undefined;
  readonly isOther: boolean;
}

const life: fc.Arbitrary<Life> = fc.record({
  afterMinutes: fc.integer({ min: 61, max: 3_000 }),
  timeoutSeconds: fc.integer({ min: 60, max: 3_600 }),
  ranSeconds: fc.option(fc.integer({ min: 0, max: 3_600 }), { nil: undefined }),
  isOther: fc.boolean(),
});

/** Cents of money a month: 3,600 seconds are 1.00. */
const cents = fc.integer({ min: 0, max: 1_500 });
const moneyText = (amount: number): string => (amount / 100).toFixed(2);

interface Counted {
  readonly jobs: number;
  readonly wouldFail: number;
  readonly wouldFailNow: number;
  readonly failed: number;
}

async function counts(lives: readonly Life[], before: number, after: number) {
  const limit = (group: number, money: string) => ({ on: { group }, money, per: 'month' });
  const bench = await budgetBench([limit(101, moneyText(before)), limit(100, '2000')]);
  const { clock, ledger, table } = bench;
  for (const [at, { afterMinutes, timeoutSeconds, ranSeconds, isOther }] of lives.entries()) {
    clock.advance(afterMinutes * 60_000);
    const jobId = at + 1;
    const other = { namespaceId: 102, projectId: 1002, projectPath: 'acme/platform/ops' };
    const [decision] = await bench.ask([aRequest(jobId, { timeoutSeconds, ...(isOther && other) })]);
    if (decision?.outcome !== 'admitted' || ranSeconds === undefined) continue;
    clock.advance(ranSeconds * 1_000);
    await ledger.settle([{ jobId, durationSeconds: ranSeconds, endedAtMs: clock.nowMs() }]);
  }
  clock.advance(60_000);
  const edit = { kind: 'set', subject: 'group/101', limit: 'money-month', amount: moneyText(after) } as const;
  const told = await bench.json('budget set', 'acme/payments', `${edit.amount}`, '--dry-run');

  const policy = readPolicy(join(bench.folder, 'policy.yaml'));
  const whole = readDirectory(join(bench.folder, 'directory.yaml'));
  const directory = async () => whole;
  const newId = (): string => 'id';
  const desk = createLimitsDesk({ table, policy, directory, ledger, clock, newId });
  const read = createConsoleRead({
    ...{ desk, limitTable: table, packedLimits: someLimits({}), policy, ledger, usage: bench.tables.rollup },
    places: async () => placesOf(whole),
    recentJobIds: async () => [lives.length],
    zone: 'UTC',
    clock,
  });
  const parts = { desk, read, policy, directory, clock, log: silentLog };
  const pages = createPages({
    ...{ ...parts, uploads: createUploads({ table, clock, newId }) },
    ...{ zone: 'UTC', origin: 'https://budget.example.com' },
  });
  const base = (await bench.live())?.set ?? '';
  const post = async (
    from: Hono<SignInEnv>,
    below: string,
    path: string,
    init: RequestInit,
  ): Promise<Response> => servedTo(USERS.finance, below, from).request(path, { method: 'POST', ...init });
  const api = await post(createApi(parts), API_PATH, `${API_PATH}/limits/backtest`, {
    headers: { 'content-type': 'application/json', 'if-match': `"${base}"` },
    body: JSON.stringify({ edits: [edit] }),
  });
  const form = { ...edit, mode: 'enforce', 'was.mode': 'enforce', why: 'round', base, step: 'count' };
  const page = await post(pages, '/', '/edit', {
    body: new URLSearchParams({ ...form, 'was.amount': moneyText(before) }),
  });
  return {
    cli: told.backtest as (Counted & { readonly days: number }) | null,
    api: (await api.json()) as BacktestAnswer,
    page: await page.text(),
  };
}

const MARKUP = /<[^>]*>/g;

/** `3 of 5 jobs would have failed; 0 with the limits as they are, 0 did.` */
function onPage(html: string): Counted | undefined {
  const text = html.replace(MARKUP, '').replace(/\s+/g, ' ');
  const [, ...numbers] =
    /(\d+) of (\d+) jobs? would have failed; (\d+) with the limits as they are, (\d+) did/.exec(text) ?? [];
  const [wouldFail, jobs, wouldFailNow, failed] = numbers.map(Number);
  return numbers.length === 0
    ? undefined
    : {
        jobs: jobs ?? -1,
        wouldFail: wouldFail ?? -1,
        wouldFailNow: wouldFailNow ?? -1,
        failed: failed ?? -1,
      };
}

test('the jobs that an edit would have failed are the same by page, API and command line', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(life, { minLength: 1, maxLength: 12 }),
      cents,
      cents,
      async (lives, before, after) => {
        fc.pre(before !== after);
        const { cli, api, page } = await counts(lives, before, after);
        if (api.outcome !== 'counted') throw new Error(JSON.stringify(api));
        const { unasked, ...all } = api.all;
        expect([api.complete, unasked]).toEqual([true, 0]);
        expect(cli).toEqual({ days: 30, jobsRead: expect.any(Number), ...all });
        expect(onPage(page)).toEqual(all.jobs === 0 ? undefined : all);
      },
    ),
    { numRuns: propertyRuns(40) },
  );
});
