import type { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import { createAdmitApp } from '../../../functions/admit/app.ts';
import type { Rules } from '../../../functions/core/admission/judge.ts';
import { handOutKnown } from '../../../functions/core/directory/hand-out.ts';
import { silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../../policies/document/reading.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { createRelay, type Relay } from '../../../relay/relay.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import type { SchemaState } from '../../../relay/wire/schema-proof.ts';
import { serveOnLoopback } from '../../../scripts/local/loopback.ts';
import { MemoryStore } from '../ledger/memory-store.ts';
import { PATIENT_MS, patientRouter } from './patient-router.ts';

export const TOKEN = 'glrct-flow-not-a-secret';

/** A minute costs 0.10, and a job ten minutes. */
export const FLOW_POLICY = {
  currency: 'EUR',
  prices: {
    version: 'flow',
    classes: [{ name: 'small', tags: [], rate_per_minute: '0.10' }],
    default_class: 'small',
  },
  estimate: { default: '10m' },
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
  ],
};

/** A small company: acme (100) with acme/payments (101), projects 1001 and 1002 in it, under {@link FLOW_POLICY}. */
export function flowRules(limits: readonly unknown[], rules: readonly unknown[] = []): Rules {
  const document = { ...FLOW_POLICY, rules: [...FLOW_POLICY.rules, ...rules] };
  const policy = valid(parsePolicy(document, 'flow'));
  const directory = valid(
    parseDirectory({
      groups: [
        { id: 100, path: 'acme' },
        { id: 101, parent: 100, path: 'acme/payments' },
      ],
      projects: [
        { id: 1001, group: 101, path: 'acme/payments/checkout' },
        { id: 1002, group: 101, path: 'acme/payments/ledger' },
      ],
    }),
  );
  const limitSet = valid(parseLimits({ limits }, 'flow', policy, directory));
  return { policy, limits: limitSet, directory, estimator: timeoutEstimator };
}

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}

export const question = (jobId: number, projectId = 1001) => ({
  id: jobId,
  job_info: {
    ...{ id: jobId, name: 'unit', stage: 'test', pipeline_id: 5000, project_id: projectId },
    project_full_path: projectId === 1001 ? 'acme/payments/checkout' : 'acme/payments/ledger',
    ...{ namespace_id: 101, root_namespace_id: 100, user_id: 7, tags: [] },
  },
  runner_info: { id: 12, timeout: 3600, tags: [] },
  image: { name: 'alpine:3.22' },
  variables: [{ key: 'CI_JOB_TOKEN', value: 'glcbt-flow-not-a-secret', masked: true }],
});

/** The admit function over a store: an instance of its own, as every Lambda environment is. */
export const admitApp = (store: LedgerStore, rules: Rules): { app: Hono; ledger: Ledger } => {
  const ledger = createLedger({ store });
  const app = createAdmitApp({
    ledger,
    currentRules: async () => rules,
    ...(rules.directory !== undefined && { handOutDirectory: handOutKnown(rules.directory) }),
    clock: systemClock,
    log: silentLog,
  });
  return { app, ledger };
};

export async function listen(app: { fetch: Hono['fetch'] }) {
  const { url, stop } = await serveOnLoopback(app);
  return { url, close: stop };
}

interface RelayOptions {
  readonly deadlineMs?: number;
  /** @default deadlineMs */
  readonly answerWithinMs?: number;
  readonly schema?: ReturnType<typeof loadSchema>;
  /** @default 'given': the router before it comes with this repository */
  readonly schemaState?: SchemaState;
  /** @default {@link TOKEN} */
  readonly token?: string;
}

export function flowRelay(
  routerUrl: string,
  admitUrl: string,
  rules: Rules,
  options: RelayOptions = {},
): { relay: Relay; events: RelayEvent[] } {
  const schema = options.schema ?? loadSchema();
  const events: RelayEvent[] = [];
  const relay = createRelay({
    router: createRouter({
      target: parseTarget(routerUrl),
      schema,
      token: literalToken(options.token ?? TOKEN),
      userAgent: 'tollgate-test',
    }),
    ...{ schema, admitUrl, fetch, policy: rules.policy, fallback: 'admit' },
    deadlineMs: options.deadlineMs ?? PATIENT_MS,
    ...(options.answerWithinMs !== undefined && { answerWithinMs: options.answerWithinMs }),
    schemaState: options.schemaState ?? 'proven',
    observe: (event) => events.push(event),
    // Routers here are asked nothing while a relay stops.
    leaveWaitingMs: 0,
  });
  return { relay, events };
}

export const answers = (events: readonly RelayEvent[]) =>
  events.filter((event): event is Extract<RelayEvent, { type: 'answered' }> => event.type === 'answered');

/** A router, the admit function over a ledger in memory, and a relay that is connected to both. They end with the test. */
export async function openFlow(
  rules: Rules,
  options: RelayOptions & {
    readonly front?: (app: Hono) => { fetch: Hono['fetch'] };
    readonly transport?: 'ws' | 'grpc';
    readonly routerSchema?: ReturnType<typeof loadSchema>;
  } = {},
) {
  const { front = (app) => app, transport, routerSchema, ...relayOptions } = options;
  const { app, ledger } = admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules);
  const server = await listen(front(app));
  const router = await patientRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    ...(routerSchema && { schema: routerSchema }),
  });
  const url = (transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? '';
  const { relay, events } = flowRelay(url, server.url, rules, relayOptions);
  relay.start();
  onTestFinished(async () => {
    await relay.stop();
    await router.close();
    await server.close();
  });
  await router.until(() => router.waitingStreams() > 0);
  return { router, ledger, relay, events };
}
