/** The auditor against the books: jobs of a GitLab that lives on the same clock, settled as it says or otherwise. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditCommandOn } from '../../../../scripts/cli/audit/audit-command.ts';
import type { LocalRunner } from '../../../../scripts/local/gitlab/job.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { policyDocument } from '../../../policies/documents.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const TOKEN = 'glpat-secret';
const PROJECT = 'acme/payments/checkout';
const SMALL: LocalRunner = { id: 41, tags: ['linux'] };
const LARGE: LocalRunner = { id: 42, tags: ['large', 'linux'] };

function house() {
  const bench = ledgerBench({ limits: [{ on: { group: 101 }, money: 1_000, per: 'month' }] });
  const gitlab = createLocalGitLab({ clock: bench.clock, random: () => 0.5, token: TOKEN });
  gitlab.addRunner(SMALL);
  gitlab.addRunner(LARGE);
  writeFileSync(join(bench.folder, 'token'), TOKEN);
  /** Runs at GitLab for so many seconds. */
  const ranAt = (jobId: number, seconds: number, runner = SMALL, projectPath = PROJECT): void => {
    gitlab.create({ id: jobId, projectId: 1001, projectPath, name: 'unit' });
    gitlab.start(jobId, runner);
    bench.clock.advance(seconds * 1000);
    gitlab.end(jobId, { status: 'success' });
  };
  /** And is asked about, and settled as GitLab says, or otherwise. */
  const job = async (jobId: number, seconds: number, told = seconds, runner = SMALL): Promise<void> => {
    await bench.ask([aRequest(jobId, { runnerId: runner.id, runnerTags: [...(runner.tags ?? [])] })]);
    ranAt(jobId, seconds, runner);
    await bench.ledger.settle([{ jobId, durationSeconds: told, endedAtMs: bench.clock.nowMs() }]);
  };
  const run = async (fetch: typeof globalThis.fetch = gitlab.fetch, ...more: string[]) => {
    const { io, told } = bench.desk();
    const waits: number[] = [];
    const command = auditCommandOn({
      ...{ open: bench.opening(), fetch },
      sleep: async (ms) => {
        waits.push(ms);
      },
    });
    const flags = [...bench.flags, '--gitlab', 'https://gitlab.example.com'];
    const args = ['--month', '2026-11', ...flags, '--token-file', join(bench.folder, 'token'), ...more];
    const code = await command.run(args, io);
    return { code, ...told, waits };
  };
  return { ...bench, gitlab, ranAt, job, run };
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
  expect(told).toContain(
    `job 3 of ${PROJECT}: charged 0.00 EUR, recomputed 1.20 EUR; it ran and is not charged`,
  );
  expect(told).not.toContain(TOKEN);
});

test('a price that was changed afterwards is found, and a document of that time settles it', async () => {
  const { job, run, folder } = house();
  await job(1, 60);
  const write = (name: string, rate: string, version: string): string => {
    const prices = { version, classes: [{ name: 'small', rate_per_minute: rate }], default_class: 'small' };
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(policyDocument({ prices })));
    return file;
  };
  const now = write('now.yaml', '0.20', '2');
  const then = write('then.yaml', '0.10', '1');
  const { code, out } = await run(undefined, '--prices', now, '--json');
  expect([code, JSON.parse(out).differences]).toMatchObject([
    2,
    [{ jobId: 1, bookedMicros: 100_000, recomputedMicros: 200_000, reason: 'price_version' }],
  ]);
  expect((await run(undefined, '--prices', then, '--prices', now)).code).toBe(0);
});

test('jobs of other groups, rejected ones and those of other months are none of it, and running ones are told', async () => {
  const { job, ranAt, gitlab, run, clock } = house();
  await job(1, 60);
  ranAt(2, 60, SMALL, 'beta/tools');
  gitlab.create({ id: 3, projectId: 1001, projectPath: PROJECT, name: 'unit' });
  gitlab.reject(3, SMALL);
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
  let failures = 3;
  const failing: typeof fetch = async (input, init) => {
    failures -= 1;
    if (failures === 2) return new Response('busy', { status: 429, headers: { 'retry-after': '7' } });
    if (failures === 1) throw new Error('reset');
    return gitlab.fetch(input, init);
  };
  const { code, out, waits } = await run(failing, '--json');
  expect([code, JSON.parse(out).jobs, waits]).toEqual([0, 130, [7_000, 2_000]]);
  await expect(run(async () => new Response('{}', { status: 403 }))).rejects.toThrow(
    'GitLab answered /runners/all with 403',
  );
  await expect(run(async () => new Response('', { status: 502 }))).rejects.toThrow('after 5 tries');
});
