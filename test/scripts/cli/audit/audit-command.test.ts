/** The auditor against the books: jobs of a GitLab that lives on the same clock, settled as it says or otherwise. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Rules } from '../../../../functions/core/admission/judge.ts';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { REJECTED_BY_ROUTER } from '../../../../functions/core/gitlab/gitlab.ts';
import { pricesIn } from '../../../../functions/core/rules.ts';
import { dynamoPriceLists } from '../../../../functions/core/statements/price-lists.ts';
import { deleteItem, getItem, putItem } from '../../../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { type Item, TimeLimit } from '../../../../functions/core/store/operation.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import type { LocalRunner } from '../../../../scripts/local/gitlab/state.ts';
import { policyDocument } from '../../../policies/documents.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const TOKEN = 'glpat-secret';
const PROJECT = 'acme/payments/checkout';
const SMALL: LocalRunner = { id: 41, tags: ['linux'] };
const LARGE: LocalRunner = { id: 42, tags: ['large', 'linux'] };

const LIMITS = [{ on: { group: 101 }, money: 1_000, per: 'month' }];

function house() {
  const bench = ledgerBench({ limits: LIMITS });
  const gitlab = createLocalGitLab({ clock: bench.clock, random: () => 0.5, token: TOKEN });
  gitlab.addRunner(SMALL);
  gitlab.addRunner(LARGE);
  writeFileSync(join(bench.folder, 'token'), TOKEN);
  const table = new MemoryTable();
  const prices = dynamoPriceLists({ table, instance: 'gitlab.example.com' });
  let rules: Rules | undefined;
  /** Packed and deployed: what decides from now on; the check of the quarter of an hour sees it as late as told. */
  const deploy = async (rate: string, version: string, seenAfterMs = 0): Promise<void> => {
    const list = { version, classes: [{ name: 'small', rate_per_minute: rate }], default_class: 'small' };
    rules = bench.documents({ prices: list }, LIMITS);
    const packed = { policy: { version: rules.policy.version, document: policyDocument({ prices: list }) } };
    const edition = pricesIn(packed);
    await prices.noteInForce(edition, bench.clock.nowMs() + seenAfterMs);
  };
  /** Runs at GitLab for so many seconds. */
  const ranAt = (jobId: number, seconds: number, runner = SMALL, projectPath = PROJECT): void => {
    gitlab.create({ id: jobId, projectId: 1001, projectPath, name: 'unit' });
    gitlab.start(jobId, runner);
    bench.clock.advance(seconds * 1000);
    gitlab.end(jobId, { status: 'success' });
  };
  /** And is asked about, and settled as GitLab says, or otherwise. */
  const job = async (jobId: number, seconds: number, told = seconds, runner = SMALL): Promise<void> => {
    const asked = aRequest(jobId, { runnerId: runner.id, runnerTags: [...(runner.tags ?? [])] });
    await bench.ask([asked], rules);
    ranAt(jobId, seconds, runner);
    await bench.ledger.settle([{ jobId, durationSeconds: told, endedAtMs: bench.clock.nowMs() }]);
  };
  const run = async (fetch: typeof globalThis.fetch = gitlab.fetch, ...more: string[]) => {
    const waits: number[] = [];
    const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) };
    const gitlabFlags = ['--gitlab', 'https://gitlab.example.com', '--token-file', 'token'];
    const args = ['--month', '2026-11', ...gitlabFlags, ...more];
    return { ...(await bench.run('audit', args, { fetch, clock, beside: { prices } })), waits };
  };
  return { ...bench, gitlab, table, prices, deploy, ranAt, job, run };
}

test('a month whose every charge is right agrees to the micro-unit, also where seconds do not divide', async () => {
  const { job, run } = house();
  for (const [index, seconds] of [1, 7, 59, 60, 61, 3_599, 0.4].entries()) await job(index + 1, seconds);
  await job(10, 90, 90, LARGE);
  const { code, out } = await run(undefined, '--json');
  const found = JSON.parse(out);
  expect([code, found.jobs, found.differences]).toEqual([0, 8, []]);
  expect(found.bookedMicros).toBe(found.recomputedMicros);
  expect(found.bookedMicros).toBeGreaterThan(900_000);
  expect((await run(undefined, '--group', 'acme/payments')).out).toContain('8 jobs, every charge agrees.');
});

test('every job that differs is named with both amounts and the likely reason', async () => {
  const { job, ranAt, gitlab, run } = house();
  await job(1, 60);
  await job(2, 60, 90);
  ranAt(3, 120);
  await job(4, 60);
  gitlab.forget(4);
  await job(5, 60);
  gitlab.addRunner({ ...SMALL, tags: ['large'] });
  const { code, out } = await run(undefined, '--json');
  const { differences } = JSON.parse(out);
  expect(code).toBe(2);
  expect(differences).toMatchObject([
    { jobId: 1, bookedMicros: 100_000, recomputedMicros: 600_000, reason: 'runner_class' },
    { jobId: 2, bookedMicros: 150_000, recomputedMicros: 600_000, reason: 'duration' },
    { jobId: 3, bookedMicros: 0, recomputedMicros: 1_200_000, reason: 'not_charged' },
    { jobId: 4, bookedMicros: 100_000, recomputedMicros: 0, reason: 'not_at_gitlab' },
    { jobId: 5, reason: 'runner_class' },
  ]);
  const told = (await run()).out;
  expect(told).toMatch(/ 3 +0\.00 EUR +1\.20 EUR +acme\/payments\/checkout +it ran and is not charged/);
  expect(told).not.toContain(TOKEN);
});

test('jobs of other groups, rejected ones and those of other months are none of it, and running ones are told', async () => {
  const { job, ranAt, gitlab, run, clock } = house();
  await job(1, 60);
  ranAt(2, 60, SMALL, 'beta/tools');
  gitlab.create({ id: 3, projectId: 1001, projectPath: PROJECT, name: 'unit' });
  gitlab.start(3, SMALL);
  gitlab.end(3, { status: 'failed', failureReason: REJECTED_BY_ROUTER });
  gitlab.create({ id: 4, projectId: 1001, projectPath: PROJECT, name: 'unit' });
  gitlab.start(4, SMALL);
  clock.advance(20 * 86_400_000);
  ranAt(5, 60);
  const { code, out } = await run(undefined, '--group', 'acme/payments', '--json');
  expect([code, JSON.parse(out)]).toMatchObject([0, { jobs: 1, open: 1, differences: [] }]);
});

test('more jobs than a page are read, answers that fail are asked for again, and a refusal ends it', async () => {
  const { job, gitlab, run } = house();
  for (let jobId = 1; jobId <= 130; jobId += 1) await job(jobId, 10);
  let failures = 2;
  const failing: typeof fetch = async (input, init) => {
    failures -= 1;
    if (failures === 1) return new Response('busy', { status: 429, headers: { 'retry-after': '7' } });
    if (failures === 0) throw new Error('reset');
    return gitlab.fetch(input, init);
  };
  const { code, out, waits } = await run(failing, '--json');
  expect([code, JSON.parse(out).jobs, waits]).toEqual([0, 130, [7_000, expect.any(Number)]]);
  await expect(run(async () => new Response('{}', { status: 403 }))).rejects.toThrow(
    /GitLab at \S+ answered 403\. The token needs/,
  );
});

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

test('two price lists that were deployed in one month are audited without a document, and a charge that was tampered with is named', async () => {
  const { job, deploy, run, clock, documents, ledger, store } = house();
  await deploy('0.10', '1');
  await job(1, 60);
  await job(2, 61);
  clock.advance(2 * DAY_MS);
  await deploy('0.25', '2');
  await job(3, 60);
  clock.advance(DAY_MS);
  await job(4, 60);
  // What lies in the folder now is nobody's price list.
  documents(
    { prices: { version: '9', classes: [{ name: 'x', rate_per_minute: 9 }], default_class: 'x' } },
    LIMITS,
  );
  const sound = await run(undefined, '--json');
  expect([sound.code, JSON.parse(sound.out)]).toMatchObject([
    0,
    {
      jobs: 4,
      differences: [],
      bookedMicros: 100_000 + 101_667 + 250_000 + 250_000,
      prices: { kind: 'deployed', priceTexts: 2 },
    },
  ]);
  const [record] = await ledger.readRecords([3]);
  if (record === undefined) throw new Error('no record');
  const claims = record.claims.map((claim) => ({ ...claim, counted: 100_000 }));
  expect(await store.rewrite({ ...record, claims }, [], { timeoutMs: 1_000 })).toBe(true);
  const { code, out } = await run(undefined, '--json');
  expect([code, JSON.parse(out).differences]).toMatchObject([
    2,
    [{ jobId: 3, bookedMicros: 100_000, recomputedMicros: 250_000, reason: 'amount' }],
  ]);
});

test('while a deployment is under way either list is right, and any other amount is not', async () => {
  const { job, deploy, run, clock } = house();
  await deploy('0.10', '1');
  clock.advance(DAY_MS);
  // Its change is noted a quarter of an hour later.
  await deploy('0.25', '2', 15 * MINUTE_MS);
  await job(1, 60);
  expect((await run()).code).toBe(0);
  await job(2, 60, 90);
  const { code, out } = await run(undefined, '--json');
  expect([code, JSON.parse(out).differences.map(({ jobId }: { jobId: number }) => jobId)]).toEqual([2, [2]]);
});

test('kept prices that were altered, left out or taken away end the audit before a charge is judged by them', async () => {
  const { job, deploy, run, table, prices, clock } = house();
  await deploy('0.10', '1');
  await job(1, 60);
  clock.advance(DAY_MS);
  await deploy('0.25', '2');
  await job(2, 60);
  const keys = ledgerKeys('gitlab.example.com');
  const put = async (item: Item) => putItem(table, item, new TimeLimit(1_000));
  const [first] = await prices.changes();
  const edition = keys.priceEdition(first?.change.editionSha256 ?? '', 0);
  const was = await getItem(table, edition, new TimeLimit(1_000));
  await put({ ...was, by: { B: gzipSync('{"currency":"EUR","prices":{"classes":[]}}') } });
  await expect(run()).rejects.toThrow(/the kept prices [0-9a-f]{12} are not as they were written/);
  await deleteItem(table, edition, new TimeLimit(1_000));
  await expect(run()).rejects.toThrow('the kept prices of change 1 are gone');
  await put({ ...was });
  expect((await run()).code).toBe(0);
  await deleteItem(table, keys.priceChange(1), new TimeLimit(1_000));
  await expect(run()).rejects.toThrow('change 1 of the kept prices is not as it was written');
});
