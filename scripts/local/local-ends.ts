/**
 * The programs that settle this machine's jobs, around the local GitLab.
 *
 *   local GitLab ── webhooks ──▶ functions/settle ── inbox item ──▶ the table's stream ──▶ functions/settle/stream ──▶ ledger
 *        ▲                                                                                                             ▲
 *        └────────── REST ────────── functions/sweep, every three seconds ───────────────────────────────────────────────┘
 */

import { randomBytes } from 'node:crypto';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { isTerminal, REJECTED_BY_ROUTER } from '../../functions/core/gitlab/gitlab.ts';
import { groupHookKey, groupHookUrl } from '../../functions/core/gitlab/group-hooks.ts';
import { createGitLab } from '../../functions/core/gitlab/rest-gitlab.ts';
import { chargeBypass } from '../../functions/core/job-ends/charge-bypass.ts';
import { inboxBody } from '../../functions/core/ledger/items.ts';
import type { JobEnd, Ledger } from '../../functions/core/ledger/ledger.ts';
import type { InboxStore } from '../../functions/core/ledger/store.ts';
import type { RulesInForce } from '../../functions/core/rules.ts';
import { createSettleApp, JOBS_PATH } from '../../functions/settle/app.ts';
import { type ConsumeDeps, consume, type TableStreamRecord } from '../../functions/settle/consume.ts';
import type { SweepReport } from '../../functions/sweep/run.ts';
import { newSweepMemory } from '../../functions/sweep/run.ts';
import { sweep } from '../../functions/sweep/sweep.ts';
import type { DirectoryGroup } from '../../policies/directory.ts';
import { type Clock, machineClock, stoppable, type WallClock } from './clock.ts';
import { createLocalGitLab } from './gitlab/local-gitlab.ts';
import type { JobEnding, NewJob } from './gitlab/state.ts';
import type { LocalLedger } from './ledger-source.ts';
import { serveOnLoopback } from './loopback.ts';
import type { PipelineRequest } from './pipeline-router.ts';
import { checksum, seededRandom } from './random.ts';
import { every, until } from './timing.ts';

export type EndsSummary = ReturnType<Awaited<ReturnType<typeof openLocalEnds>>['summary']>;

/** The longest job runs for 12 minutes of its clock, little more than a second. */
const LIVING_MS_MAX = 20_000;
const INBOX_MS_MAX = 10_000;
const SWEEPS_MAX = 20;
/** The sweep skips holds younger than two minutes of the fast clock. */
const SWEEP_AGAIN_MS = 250;
const FOREVER_MS = Number.MAX_SAFE_INTEGER;
const HOLDS_COUNTED_MAX = 10_000;

export async function openLocalEnds(
  { ledger, store, keys, marks, reported, stream }: LocalLedger,
  rules: Pick<RulesInForce, 'rulesFor' | 'directoryFor'>,
  clock: Clock,
  onProblem: (text: string) => void,
) {
  const groups = [...((await rules.directoryFor([]))?.groupById.values() ?? [])];
  const settled = { webhook: 0, sweep: 0 };
  const signingToken = `whsec_${randomBytes(32).toString('base64')}`;
  let received = 0;
  const inbox: InboxStore = {
    async receive(item, how) {
      const first = await store.receive(item, how);
      if (first) received += 1;
      return first;
    },
  };
  const secrets = async () => [signingToken];
  const settleServer = await serveOnLoopback(
    createSettleApp({ inbox, secrets, clock, random: Math.random, log: silentLog }),
  );
  const played = playGitLab(
    clock,
    groups.filter(({ parentId }) => parentId === undefined),
    (id) => ({
      url: groupHookUrl(`${settleServer.url}${JOBS_PATH}`, id),
      signing_token: groupHookKey(signingToken, id),
    }),
  );
  const rest = await played.gitlab.listen();

  const settling = (program: 'webhook' | 'sweep') => ({
    ledger: counting(ledger, (count) => {
      settled[program] += count;
    }),
    currentRules: rules.rulesFor,
    clock,
    log: silentLog,
  });
  const done = new AbortController();
  const reader = readInbox(
    stream(done.signal),
    { ...settling('webhook'), keys, directoryFor: rules.directoryFor, pause: clock.sleep },
    onProblem,
  );
  const sweeping = settling('sweep');
  const memory = newSweepMemory();
  const gitlab = createGitLab({ baseUrl: rest.url, token: async () => played.token, fetch, clock });
  const sweeper = startSweeper(
    () =>
      sweep({
        ...{ gitlab, ledger: sweeping.ledger, marks, reported, memory, clock, chargeUnknown: 'nothing' },
        chargeBypass: (gitlabJobs) => chargeBypass(gitlabJobs, sweeping),
      }),
    onProblem,
  );
  // Writes the first checkpoint: later jobs without a decision count as bypass.
  await sweeper.once();

  let holdsLeft = 0;
  return {
    settleUrl: settleServer.url,
    gitlabUrl: rest.url,
    play: played.play,
    living: played.living,
    async finish(): Promise<void> {
      await until(() => played.living() === 0, LIVING_MS_MAX);
      await played.gitlab.groupHooks.idle();
      await until(() => reader.items() >= received, INBOX_MS_MAX);
      for (let sweeps = 1; sweeps <= SWEEPS_MAX; sweeps += 1) {
        await sweeper.once();
        holdsLeft = (await ledger.dueJobs(FOREVER_MS, HOLDS_COUNTED_MAX)).length;
        if (holdsLeft === 0) return;
        await clock.sleep(SWEEP_AGAIN_MS);
      }
    },
    summary: () => ({ ...settled, webhooks: played.gitlab.groupHooks.counters, holdsLeft }),
    jobs: () => played.gitlab.jobs(),
    async close(): Promise<void> {
      played.stop();
      await sweeper.stop();
      done.abort();
      await reader.ended;
      await settleServer.stop();
      await rest.stop();
    },
  };
}

function counting(ledger: Ledger, onSettled: (count: number) => void): Ledger {
  const counted =
    <Args extends unknown[], Outcome>(call: (...args: Args) => Promise<readonly Outcome[]>) =>
    async (...args: Args) => {
      const outcomes = await call(...args);
      onSettled(outcomes.filter((outcome) => outcome === 'applied').length);
      return outcomes;
    };
  return { ...ledger, settle: counted(ledger.settle), recordBypass: counted(ledger.recordBypass) };
}

const TRIES_MAX = 3;
const RETRY_MS = 200;

function readInbox(
  stream: AsyncIterable<readonly TableStreamRecord[]>,
  deps: ConsumeDeps & { readonly pause: (delayMs: number) => Promise<void> },
  onProblem: (text: string) => void,
) {
  let items = 0;
  const work = async (Records: readonly TableStreamRecord[]): Promise<void> => {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      if ((await consume({ Records }, deps)).batchItemFailures.length === 0) return;
      await deps.pause(RETRY_MS);
    }
    onProblem('ends of jobs from GitLab are not in the ledger yet; the sweep finds them');
  };
  const isInbox = ({ eventName, dynamodb }: TableStreamRecord): boolean =>
    eventName === 'INSERT' && inboxBody(dynamodb?.NewImage ?? {}, deps.keys) !== undefined;
  const readAll = async (): Promise<void> => {
    for await (const records of stream) {
      await work(records);
      items += records.filter(isInbox).length;
    }
  };
  return {
    items: () => items,
    ended: readAll().catch((error: unknown) =>
      onProblem(`the table's stream is read no more (${String(error)}); the sweep goes on`),
    ),
  };
}

/**
 * A deployment sweeps every minute, which would be ten times a second on a clock that runs 600 times as fast. Here half
 * an hour of that clock passes between two sweeps.
 */
export const SWEEP_EVERY_MS = 3_000;

function startSweeper(sweep: () => Promise<SweepReport>, onProblem: (text: string) => void) {
  let last: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    try {
      const { gitlabSilent } = await sweep();
      if (gitlabSilent) onProblem('sweep: GitLab does not answer, holds stay as they are');
    } catch (error) {
      onProblem(`sweep: ${error instanceof Error ? error.message : String(error)}; the next one goes on`);
    }
  };
  const once = (): Promise<void> => {
    last = last.then(run);
    return last;
  };
  const sweeping = every(SWEEP_EVERY_MS, once);
  return {
    once,
    async stop(): Promise<void> {
      await sweeping.stop();
      await last;
    },
  };
}

const FLUSH_EVERY_MS = 100;

/**
 * The ends of a pilot's jobs: this machine gets no webhooks of the real GitLab, so each job is taken to run as long as
 * estimated. Otherwise nothing would ever be released. Jobs that the fallback admitted are charged when the relay
 * reports them.
 */
export function estimatedEnds({ settle }: Pick<Ledger, 'settle'>) {
  const running = new Map<number, JobEnd>();
  let settling: Promise<unknown> = Promise.resolve();
  const flush = (untilMs: number): void => {
    const ends = [...running.values()].filter(({ endedAtMs }) => endedAtMs <= untilMs);
    if (ends.length === 0) return;
    for (const { jobId } of ends) running.delete(jobId);
    settling = settling.then(() => settle(ends));
  };
  const flushing = every(FLUSH_EVERY_MS, async () => flush(Date.now()));
  return {
    running: () => running.size,
    start(jobId: number, estimateSeconds: number): void {
      const endedAtMs = Date.now() + estimateSeconds * 1000;
      running.set(jobId, { jobId, durationSeconds: estimateSeconds, endedAtMs });
    },
    async close(): Promise<void> {
      await flushing.stop();
      flush(Number.POSITIVE_INFINITY);
      await settling;
    },
  };
}

const LEFTOVERS_AT_ONCE = 1_000;
const ROUNDS_MAX = 100;

/** Settles the jobs of a killed run at their estimates: the GitLab that knew their ends is gone with it. */
export async function settleLeftovers(ledger: Ledger, nowMs: number): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const due = await ledger.dueJobs(FOREVER_MS, LEFTOVERS_AT_ONCE);
    if (due.length === 0) return;
    const records = (await ledger.readRecords(due.map(({ jobId }) => jobId))).filter(
      (record) => record !== undefined,
    );
    await ledger.settle(
      records.map(({ jobId, facts }) => ({
        ...{ jobId, durationSeconds: facts.estimateSeconds, endedAtMs: nowMs },
      })),
    );
  }
}

/** Far more webhooks fail here than at any real GitLab, so that the sweep has work to show. */
export const WEBHOOK_FAULTS = { lose: 0.05, repeat: 0.03 } as const;

const REJECTED_MS = 90;

/** A GitLab with a webhook on each root group that plays the jobs it is asked about to their end. */
function playGitLab(
  clock: WallClock,
  roots: readonly DirectoryGroup[],
  hookOf: (rootId: number) => Readonly<Record<'url' | 'signing_token', string>>,
) {
  const token = `glpat-${randomBytes(12).toString('base64url')}`;
  const timers = stoppable(clock);
  const gitlab = createLocalGitLab({
    ...{ clock, token, wireClock: machineClock, random: seededRandom(1), hookFaults: WEBHOOK_FAULTS },
    administration: { groups: roots.map(({ id, path }) => ({ id, path })) },
  });
  for (const { id } of roots) gitlab.groupHooks.make(id, { ...hookOf(id), job_events: true });
  const random = seededRandom(2);
  const endAfter = (delayMs: number, jobId: number, ending: JobEnding): void =>
    void timers.after(delayMs, () => {
      if (gitlab.job(jobId)?.status === 'running') gitlab.end(jobId, ending);
    });
  return {
    gitlab,
    token,
    async play(request: PipelineRequest, admit: () => Promise<{ readonly result: string }>): Promise<void> {
      const { id, runner_info: runner } = request;
      gitlab.create(newJob(request));
      const { runsMs, ending } = jobCourse(request.job_info.name, runner.timeout, random);
      const { result } = await admit();
      if (result === 'admitted' || result === 'disabled')
        timers.after(0, () => {
          if (gitlab.job(id)?.status !== 'pending') return;
          gitlab.start(id, runner);
          endAfter(runsMs, id, ending);
        });
      else {
        gitlab.start(id, runner);
        endAfter(REJECTED_MS, id, { status: 'failed', failureReason: REJECTED_BY_ROUTER });
      }
    },
    living: (): number => [...gitlab.jobs()].filter(({ status }) => !isTerminal(status)).length,
    stop(): void {
      timers.stop();
      gitlab.stop();
    },
  };
}

/** A job's name gives its usual duration, between these; each run differs by up to a fifth. */
const USUAL_SECONDS_MIN = 150;
const USUAL_SECONDS_MAX = 600;
const SPREAD = 0.2;

const FAILS_SHARE = 0.05;
const CANCELED_SHARE = 0.02;

function jobCourse(name: string, timeoutSeconds: number, random: () => number) {
  const usual = USUAL_SECONDS_MIN + (checksum(name) % (USUAL_SECONDS_MAX - USUAL_SECONDS_MIN));
  const seconds = usual * (1 - SPREAD + 2 * SPREAD * random());
  const outcome = random();
  let ending: JobEnding = { status: outcome < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success' };
  if (outcome < FAILS_SHARE) ending = { status: 'failed' };
  if (seconds >= timeoutSeconds) ending = { status: 'failed', failureReason: 'job_execution_timeout' };
  return { runsMs: Math.min(seconds, timeoutSeconds) * 1000, ending };
}

function newJob({ id, job_info: info, git_info: git, variables }: PipelineRequest): NewJob {
  const environment = variables.find(({ key }) => key === 'CI_ENVIRONMENT_NAME')?.value;
  return {
    ...{ id, name: info.name, stage: info.stage, ref: git.ref, tags: info.tags },
    ...{ projectId: info.project_id, projectPath: info.project_full_path },
    ...{ pipelineId: info.pipeline_id, userId: info.user_id },
    ...(environment !== undefined && { environment }),
  };
}
