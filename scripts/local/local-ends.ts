/**
 * The programs that settle this machine's jobs, around the local GitLab.
 *
 *   local GitLab ── webhooks ──▶ functions/settle ── inbox item ──▶ the table's stream ──▶ functions/settle/stream ──▶ ledger
 *        ▲                                                                                                             ▲
 *        └────────── REST ────────── functions/sweep, every three seconds ───────────────────────────────────────────────┘
 */

import { silentLog } from '../../functions/core/environment/index.ts';
import { createGitLab, groupHookKey, groupHookUrl } from '../../functions/core/gitlab/index.ts';
import type { InboxStore } from '../../functions/core/ledger/index.ts';
import type { RulesInForce } from '../../functions/core/rules/index.ts';
import { settleTruths } from '../../functions/core/truth/index.ts';
import { createSettleApp, JOBS_PATH } from '../../functions/settle/app.ts';
import { newSweepMemory } from '../../functions/sweep/run.ts';
import { sweep } from '../../functions/sweep/sweep.ts';
import { pathKey } from '../../policies/place/directory.ts';
import type { Clock } from './clock/clock.ts';
import { newSigningToken, playGitLab } from './gitlab/played-gitlab.ts';
import type { HookCounters } from './gitlab/webhooks.ts';
import type { LocalLedger } from './ledger-source.ts';
import { serveOnLoopback } from './loopback-server.ts';
import { readInbox, type SettledBy, SettledJobs, startSweeper } from './settling.ts';

interface LocalEndsOptions {
  readonly ledger: LocalLedger;
  /** Charges jobs without a decision, and finds the top-level group of a project. */
  readonly rules: Pick<RulesInForce, 'rulesFor' | 'directoryFor'>;
  readonly clock: Clock;
  readonly seed: number;
  readonly onTrouble: (text: string) => void;
}

export interface EndsSummary extends SettledBy {
  readonly webhooks: Readonly<HookCounters>;
  readonly sweeps: number;
  /** Holds that are left at the end. */
  readonly holdsLeft: number;
}

/** The longest job runs for 12 minutes of its clock, little more than a second. */
const LIVING_MS_MAX = 20_000;
const INBOX_MS_MAX = 10_000;
const SWEEPS_MAX = 20;
const LOOK_EVERY_MS = 50;
/** The sweep skips holds younger than two minutes of the fast clock. */
const SWEEP_AGAIN_MS = 250;
const FOREVER_MS = Number.MAX_SAFE_INTEGER;
/** Holds are counted up to this number. */
const HOLDS_COUNTED_MAX = 10_000;

export async function openLocalEnds(options: LocalEndsOptions) {
  const { rules, clock, seed, onTrouble } = options;
  const { ledger, store, keys, marks, reported, stream } = options.ledger;
  const groups = (await rules.directoryFor([]))?.groupByPath;
  const settled = new SettledJobs();
  const signingToken = newSigningToken();
  let received = 0;
  const inbox: InboxStore = {
    async receive(item, how) {
      const first = await store.receive(item, how);
      if (first) received += 1;
      return first;
    },
  };
  const settleServer = await serveOnLoopback(
    createSettleApp({
      inbox,
      secrets: async () => [signingToken],
      clock,
      random: Math.random,
      log: silentLog,
    }),
  );
  const played = playGitLab({
    clock,
    seed,
    hookFor: (projectPath) => {
      const groupId = groups?.get(pathKey(projectPath.split('/')[0] ?? ''))?.id ?? 1;
      return {
        url: groupHookUrl(`${settleServer.url}${JOBS_PATH}`, groupId),
        signingToken: groupHookKey(signingToken, groupId),
      };
    },
    onEndLost: (jobId) => settled.webhookLost(jobId),
  });
  const rest = await played.gitlab.listen();

  const settling = (program: 'webhook' | 'sweep') => ({
    ledger: settled.countFor(program, ledger),
    currentRules: rules.rulesFor,
    clock,
    log: silentLog,
  });
  const done = new AbortController();
  const reader = readInbox(
    stream(done.signal),
    {
      ...settling('webhook'),
      keys,
      directoryFor: rules.directoryFor,
      pause: (delayMs) => clock.sleep(delayMs),
    },
    onTrouble,
  );
  const sweeping = settling('sweep');
  const memory = newSweepMemory();
  const gitlab = createGitLab({ baseUrl: rest.url, token: async () => played.token, fetch, clock });
  const sweeper = startSweeper(
    () =>
      sweep({
        gitlab,
        ledger: sweeping.ledger,
        marks,
        reported,
        chargeBypass: (truths) => settleTruths(truths, sweeping),
        memory,
        clock,
        chargeUnknown: 'nothing',
      }),
    onTrouble,
  );
  // Writes the first checkpoint: later jobs without a decision count as bypass.
  await sweeper.once();

  let holdsLeft = 0;
  const until = async (holds: () => boolean, withinMs: number): Promise<void> => {
    const endMs = clock.monotonicMs() + withinMs;
    while (!holds() && clock.monotonicMs() < endMs) await clock.sleep(LOOK_EVERY_MS);
  };
  return {
    settleUrl: settleServer.url,
    gitlabUrl: rest.url,
    play: played.play,
    /** The number of jobs that have not ended in GitLab. */
    living: played.living,
    /** Waits, for a bounded time, until every job has ended in GitLab and then in the ledger. */
    async finish(): Promise<void> {
      await until(() => played.living() === 0, LIVING_MS_MAX);
      await played.gitlab.hooksIdle();
      await until(() => reader.items() >= received, INBOX_MS_MAX);
      for (let sweeps = 1; sweeps <= SWEEPS_MAX; sweeps += 1) {
        await sweeper.once();
        holdsLeft = (await ledger.dueJobs(FOREVER_MS, HOLDS_COUNTED_MAX)).length;
        if (holdsLeft === 0) return;
        await clock.sleep(SWEEP_AGAIN_MS);
      }
    },
    summary: (): EndsSummary => ({
      ...settled.counts,
      webhooks: played.gitlab.counters.hooks,
      sweeps: sweeper.runs(),
      holdsLeft,
    }),
    jobs: () => played.gitlab.jobs(),
    async close(): Promise<void> {
      played.gitlab.stop();
      await sweeper.stop();
      done.abort();
      await reader.ended;
      await settleServer.stop();
      await rest.stop();
    },
  };
}
