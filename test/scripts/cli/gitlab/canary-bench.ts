import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { dynamoCanaryOutcomes } from '../../../../functions/core/ledger/controller.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { stopOnSignal } from '../../../../scripts/cli/gitlab/canary-command.ts';
import { openTableAccess } from '../../../../scripts/cli/open-ledger.ts';
import { machineClock } from '../../../../scripts/local/clock.ts';
import { createRunnerClient, startRoutedGitLab } from '../../../../scripts/local/gitlab/runner-client.ts';
import type { LocalCiProject } from '../../../../scripts/local/gitlab/runners.ts';
import type { LocalRunner } from '../../../../scripts/local/gitlab/state.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { aProject, runDesk } from '../desk-run.ts';
import { surrounded } from '../stand-ins.ts';

const ADMIN = 'glpat-administrator';
const RUNNER_TOKEN = 'glrt-canary';
const INSTANCE = 'gitlab.example.com';
/** What the canary waits for of the relay's own timers goes by this many times faster. */
const FASTER = 50;
/** Timers of this length or longer are there for what does not come: a busy machine needs the whole of them. */
const PATIENT_FROM_MS = 20_000;

const tags = ['tollgate-canary'];
export const CANARY_PROJECT: LocalCiProject = {
  ...{ id: 900, path: 'platform/tollgate-canary' },
  jobs: [
    { tags, name: 'tollgate-canary-runs', script: ['echo admitted'] },
    { tags, name: 'tollgate-canary-fails', script: ['echo rejected'] },
  ],
};
export const CANARY_RUNNER: LocalRunner = { id: 7, token: RUNNER_TOKEN, tags, runUntagged: false };

interface BenchOptions extends Partial<Parameters<typeof startRoutedGitLab>[0]> {
  readonly usesRouter?: boolean;
  /** It never asks for a job. */
  readonly runnerIsOff?: boolean;
  readonly stopped?: boolean;
  /** What is waited for does not come. */
  readonly hasty?: boolean;
}

/** `tollgate gitlab canary` in this process, against a GitLab over HTTP, its router over gRPC, and a runner that asks it. */
export async function canaryBench({
  usesRouter = true,
  runnerIsOff = false,
  stopped = false,
  hasty = false,
  ...options
}: BenchOptions = {}) {
  const routed = await startRoutedGitLab({
    ...{ token: ADMIN, runners: [CANARY_RUNNER], projects: [CANARY_PROJECT], findTimeoutMs: 50 },
    ...{ version: '19.4', controllers: [], ...options },
  });
  onTestFinished(() => routed.close());
  const { gitlab, router } = routed;
  const server = await gitlab.listen();
  onTestFinished(() => server.stop());
  const runner = createRunnerClient({
    ...{ gitlabUrl: server.url, token: RUNNER_TOKEN, fetch, clock: machineClock },
    usesRouter,
  });
  onTestFinished(() => runner.close());
  let [calls, diesAt, sleptMs] = [0, undefined as number | undefined, 0];
  let doneFirst = false;
  const streamsWhenArmed: number[] = [];
  const killable: typeof fetch = async (input, init) => {
    calls += 1;
    if (init?.method === 'PUT' && String(init.body).includes('"enabled"'))
      streamsWhenArmed.push(router.waitingStreams());
    if (diesAt === undefined || calls < diesAt) return fetch(input, init);
    if (calls === diesAt && doneFirst) await (await fetch(input, init)).text();
    throw new Error('the process is dead');
  };
  const table = new MemoryTable();
  const outcomes = dynamoCanaryOutcomes({ table, instance: INSTANCE });
  const clock = {
    ...machineClock,
    monotonicMs: () => performance.now() + sleptMs,
    after: (delayMs: number, run: () => void) => {
      const faster = hasty || delayMs < PATIENT_FROM_MS ? FASTER : 1;
      return machineClock.after(delayMs / faster, run);
    },
    /** Meanwhile the runner looks for a job. */
    sleep: async (delayMs: number) => {
      sleptMs += delayMs;
      if (!runnerIsOff) await runner.poll();
    },
  };
  const stop = new AbortController();
  if (stopped) stop.abort();
  const open = async () => ({
    ...{ table, instance: INSTANCE, description: 'table tollgate' },
    close: async () => {},
  });
  const root = aProject({ token: `${ADMIN}\n` });
  const run = async (...flags: readonly string[]) => {
    calls = 0;
    const place = ['--gitlab', server.url, '--token-file', 'token', '--project', 'platform/tollgate-canary'];
    const told = await runDesk(['gitlab', 'canary', ...place, ...flags], root, {
      nowMs: () => NOW_MS,
      ...surrounded({
        ...{ fetch: killable, clock: { ...machineClock, sleep: async () => {} } },
        more: [
          [openTableAccess, open],
          [machineClock, clock],
          [stopOnSignal, () => stop.signal],
        ],
      }),
    });
    expect(`${told.out}${told.err}`).not.toMatch(/glrct-|glrt-|glpat-|glcbt-/);
    return { ...told, calls };
  };
  return {
    gitlab,
    router,
    runner,
    outcomes,
    /** Each time the second controller was enabled. */
    streamsWhenArmed,
    run,
    writeFile: (name: string, bytes: Uint8Array) => {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), bytes);
    },
    dieAt: (call: number | undefined, whenDone = false): void => {
      diesAt = call;
      doneFirst = whenDone;
    },
    /** What a canary must not leave. */
    left: () => ({
      controllers: routed.gitlab.routerSide.controllers().map(({ id, state }) => `${id} ${state}`),
      unfinished: [...gitlab.jobs()].filter(({ status }) => ['pending', 'running'].includes(status)).length,
    }),
  };
}
