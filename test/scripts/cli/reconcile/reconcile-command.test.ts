import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GitLabError, type GitLabJob } from '../../../../functions/core/gitlab/gitlab.ts';
import type { RestCallDeps } from '../../../../functions/core/gitlab/rest-call.ts';
import { createGitLab, type GitLab } from '../../../../functions/core/gitlab/rest-gitlab.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';
import { runCommand, surrounded } from '../stand-ins.ts';

const TOKEN = 'glpat-secret';
const ran = (jobId: number, seconds: number, more: Partial<GitLabJob> = {}): GitLabJob => ({
  jobId,
  projectId: 1001,
  projectPath: 'acme/payments/checkout',
  status: 'success',
  createdAtMs: NOVEMBER_21_MS + jobId,
  startedAtMs: NOVEMBER_21_MS + 1_000,
  finishedAtMs: NOVEMBER_21_MS + 1_000 + seconds * 1_000,
  durationSeconds: seconds,
  ...more,
});

/** Two pages of one runner, newest first, and single jobs by id. */
function aGitLab(
  listed: readonly GitLabJob[],
  single: readonly GitLabJob[] = [],
  failures: GitLabError[] = [],
) {
  const calls = { job: 0, lists: 0 };
  const newest = [...listed].sort((a, b) => b.jobId - a.jobId);
  const gitlab: GitLab = {
    job: async (_, jobId) => {
      calls.job += 1;
      return single.find((each) => each.jobId === jobId);
    },
    runners: async ({ page }) => (page === undefined ? { runnerIds: [41], next: '2' } : { runnerIds: [42] }),
    listJobs: async (list, { page }) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      calls.lists += 1;
      if (list === 'runners/42') return { jobs: [] };
      return page === undefined ? { jobs: newest.slice(0, 1), next: 'b' } : { jobs: newest.slice(1) };
    },
  };
  return { gitlab, calls };
}

/** Job 1 settled, 2 and 3 held, 4 rejected by the budget. */
async function house() {
  const bench = ledgerBench({ limits: [{ on: { group: 101 }, money: 2.1, per: 'month' }] });
  await bench.ask([aRequest(1)]);
  await bench.ledger.settle([{ jobId: 1, durationSeconds: 60, endedAtMs: bench.clock.nowMs() }]);
  await bench.ask([aRequest(2), aRequest(3, { timeoutSeconds: 60 }), aRequest(4)]);
  bench.clock.advance(3_600_000);
  writeFileSync(join(bench.folder, 'token'), `${TOKEN}\n`);
  return bench;
}

/** Checks how GitLab is called. */
const calledAs = (gitlab: GitLab) => (calls: RestCallDeps) => {
  expect(calls.baseUrl).toBe('https://gitlab.example.com');
  return gitlab;
};

async function run(which: 'reconcile' | 'proof', gitlab: GitLab, args: string[] = []) {
  const bench = await house();
  const before = JSON.stringify([...bench.store.dump()]);
  const { io, told } = bench.terminal();
  const waits: number[] = [];
  const surroundings = surrounded({
    ...{ open: bench.opening(), openToRepair: bench.opening(bench.store) },
    answer: () => {
      throw new Error('a dry run asks nothing');
    },
    clock: {
      ...bench.clock,
      sleep: async (ms) => {
        waits.push(ms);
      },
    },
    more: [[createGitLab, calledAs(gitlab)]],
  });
  const place = ['--gitlab', 'https://gitlab.example.com/', '--token-file', 'token'];
  const dry = which === 'proof' ? [] : ['--dry-run'];
  const code = await runCommand(which, [...dry, ...place, ...args], { ...io, ...surroundings });
  expect(bench.stillOpen()).toBe(0);
  expect(JSON.stringify([...bench.store.dump()]), 'a dry run writes nothing').toBe(before);
  expect(told.out + told.err).not.toContain(TOKEN);
  return { code, waits, ...told };
}

const REJECTED = ran(4, 0, { status: 'failed', failureReason: 'job_router_failure' });
const running = (jobId: number): GitLabJob => {
  const { finishedAtMs: _, durationSeconds: __, ...rest } = ran(jobId, 0, { status: 'running' });
  return rest;
};

test('books that agree are told so', async () => {
  const { gitlab } = aGitLab([ran(1, 60), running(2), running(3), REJECTED]);
  const { code, out } = await run('reconcile', gitlab);
  expect(code).toBe(EXIT.ok);
  expect(out).toContain('4 jobs compared');
  expect(out).toContain('1 of 1 rejected jobs did not run.');
  expect(out).toContain('0 of 3 jobs ran without an admission, 0.00 %');
  expect(out).toContain('No differences.');
});

test('every difference is listed with what the sweep would do; lists come before single calls', async () => {
  const { gitlab, calls } = aGitLab([ran(1, 90), ran(2, 30), ran(4, 5), ran(5, 5)]);
  const { code, out } = await run('reconcile', gitlab, ['--json']);
  expect(code).toBe(EXIT.wouldReject);
  const told = JSON.parse(out);
  expect(told.findings.map((each: Record<string, unknown>) => [each.jobId, each.kind, each.remedy])).toEqual([
    [1, 'duration', 'correct'],
    [2, 'ended', 'settle'],
    [3, 'gone', 'expire'],
    [4, 'rejected_ran', 'settle'],
    [5, 'unseen', 'charge as bypass'],
  ]);
  expect(told.unadmittedShare).toBe(0.5);
  expect(calls.job).toBe(1);
});

/** What the sweep would do, done: with GitLab's words about jobs 1 to 5 as in the dry run above. */
async function mend(options: { agree?: boolean | undefined; args?: string[]; runners?: 'refused' } = {}) {
  const bench = await house();
  const { gitlab } = aGitLab([ran(1, 90), ran(2, 30), ran(4, 5), ran(5, 5)]);
  const refused = { ...gitlab, runners: () => Promise.reject(new GitLabError('gitlab_refused', '403')) };
  const single = aGitLab([], [ran(1, 90), ran(2, 30), ran(4, 5)]).gitlab;
  const questions: string[] = [];
  const { io, told } = bench.terminal();
  const before = JSON.stringify([...bench.store.dump()]);
  const place = ['--gitlab', 'https://gitlab.example.com/', '--token-file', 'token'];
  const surroundings = surrounded({
    ...{ open: bench.opening(), openToRepair: bench.opening(bench.store), clock: bench.clock },
    answer: (question) => {
      questions.push(question);
      return options.agree;
    },
    more: [[createGitLab, () => (options.runners === 'refused' ? { ...refused, job: single.job } : gitlab)]],
  });
  const args = [...place, ...(options.args ?? [])];
  const run = () => runCommand('reconcile', args, { ...io, ...surroundings });
  const states = async () =>
    (await bench.ledger.readRecords([1, 2, 3, 4, 5])).map(
      (record) => record && `${record.state} ${record.durationSeconds ?? '-'}`,
    );
  const unwritten = (): boolean => JSON.stringify([...bench.store.dump()]) === before;
  return { bench, run, told, states, questions, unwritten };
}

test('it settles, corrects, expires and charges what differs, as the sweep would, and a second time finds nothing', async () => {
  const documents = ['--policy', 'policy.yaml', '--limits', 'limits.yaml', '--directory', 'directory.yaml'];
  const { run, told, states } = await mend({ args: ['--yes', '--charge-bypass', ...documents, '--json'] });
  expect(await run()).toBe(EXIT.ok);
  expect(JSON.parse(told.out).acted).toMatchObject({
    tally: { settled: 2, corrected: 1, expired: 1, bypass: 1, undecided: 0 },
    left: { bypass: 0, expiry: 0 },
  });
  expect(await states()).toEqual(['SETTLED 90', 'SETTLED 30', 'EXPIRED -', 'SETTLED 5', 'SETTLED 5']);
  told.out = '';
  expect(await run()).toBe(EXIT.ok);
  expect(JSON.parse(told.out).acted).toBeUndefined();
});

test('who says no keeps the books as they are', async () => {
  const { run, unwritten, told, questions } = await mend({ agree: false });
  expect(await run()).toBe(EXIT.wouldReject);
  expect(unwritten()).toBe(true);
  expect(questions).toEqual(['Write what the sweep would do about 5 jobs?']);
  expect(told.err).toContain('Nothing was written.');
});

test('a token that may not list runners expires nothing: it may not see the job either', async () => {
  const { run, states, told } = await mend({ runners: 'refused', args: ['--yes'] });
  expect(await run()).toBe(EXIT.wouldReject);
  expect((await states())[2]).toBe('HELD -');
  expect(told.out).toContain('1 holds of jobs GitLab does not know stay');
});

test('proof fails when a rejected job ran, and names it', async () => {
  const { gitlab } = aGitLab([ran(1, 60), running(2), running(3), ran(4, 5)]);
  const { code, out } = await run('proof', gitlab);
  expect(code).toBe(EXIT.wouldReject);
  expect(out).toContain('0 of 1 rejected jobs did not run.');
  expect(out).toMatch(/4 +REJECTED +success +settle .*rejected, and it ran/);
});
