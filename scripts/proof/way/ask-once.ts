/** One admission through everything: a router over gRPC, the relay, the admit app and the ledger, in this process. */

import { silentLog, systemClock } from '../../../functions/core/environment/index.ts';
import { createLedger, DynamoStore } from '../../../functions/core/ledger/index.ts';
import { createRelay } from '../../../relay/relay.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { INLINE_URL, inlineFetch } from '../../local/inline.ts';
import { startLocalRouter } from '../../local/router/local-router.ts';
import { benchPlace, benchRules } from '../bench/bench-rules.ts';
import { clientTable } from './client-table.ts';

const TOKEN = 'glrct-way-not-a-secret';
const SECONDS_MAX = 3_600;

interface Asking {
  /** Asks about a job that nobody asked about before. @throws {Error} if the answer is another one. */
  ask(expected: 'admitted' | 'rejected'): Promise<void>;
  close(): Promise<void>;
}

/** @param budget - of the job's root group for the month, in the currency; a job costs 0.20 at most. */
export async function startAsking(budget: number): Promise<Asking> {
  const rules = benchRules(1, [], budget);
  const router = await startLocalRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  const schema = loadSchema();
  const relay = createRelay({
    router: createRouter({
      target: parseTarget(router.grpcUrl ?? ''),
      schema,
      token: literalToken(TOKEN),
      userAgent: 'tollgate-way',
    }),
    schema,
    admitUrl: INLINE_URL,
    fetch: inlineFetch({
      ledger: createLedger({
        store: new DynamoStore({
          table: clientTable(),
          instance: 'way.example.com',
          clock: systemClock,
          random: Math.random,
        }),
      }),
      currentRules: async () => rules,
      clock: systemClock,
      log: silentLog,
    }),
    policy: rules.policy,
    // Nothing here is slow; a machine may be.
    deadlineMs: 60_000,
    fallback: 'reject',
    schemaTrust: 'given',
    observe: () => {},
    leaveWaitingMs: 0,
  });
  relay.start();
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 60_000 });
  let jobId = 0;
  return {
    ask: async (expected) => {
      jobId += 1;
      const { result } = await router.admit(questionOf(jobId));
      if (result !== expected) throw new Error(`job ${jobId} was ${result}; expected ${expected}`);
    },
    close: async () => {
      await relay.stop();
      await router.close();
    },
  };
}

/** As GitLab's router sends it. */
function questionOf(jobId: number) {
  const { root, group, project } = benchPlace(0);
  return {
    id: jobId,
    job_info: {
      id: jobId,
      name: 'unit',
      stage: 'test',
      pipeline_id: 5000,
      project_id: project,
      project_full_path: `root-${root}/team-${group}/service`,
      namespace_id: group,
      root_namespace_id: root,
      user_id: 7,
      tags: ['medium'],
    },
    runner_info: { id: 12, timeout: SECONDS_MAX, tags: ['medium'] },
    image: { name: 'alpine:3.22' },
    variables: [{ key: 'CI_PIPELINE_SOURCE', value: 'push' }],
  };
}
