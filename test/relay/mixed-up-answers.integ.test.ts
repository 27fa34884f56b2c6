import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { AdmissionsResponse } from '../../functions/core/contract/admissions.ts';
import { MemoryStore } from '../../functions/core/ledger/memory-store.ts';
import type { Fetch } from '../../relay/admit/admit-call.ts';
import { createBreaker } from '../../relay/admit/breaker.ts';
import { createForwarder } from '../../relay/admit/forward.ts';
import { INVOKE_URL, invokeRoute, urlRoute } from '../../relay/admit/routes.ts';
import { createGroupCommit } from '../../relay/commit/group-commit.ts';
import { systemRelayClock } from '../../relay/relay.ts';
import { INLINE_URL } from '../../scripts/local/admit.ts';
import { admitApp, flowRules, listen } from '../support/flow/flow.ts';

const JOBS = 1_000;
/** The most that the contract takes: nothing here is about time. */
const DEADLINE_MS = 30_000;
const IMAGES = { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] };
/** Odd jobs run what they may, even ones what they may not. */
const requestOf = (jobId: number) => ({
  jobId,
  projectId: 1001 + (jobId % 2),
  namespaceId: 101,
  rootNamespaceId: 100 + (jobId % 7),
  image: jobId % 2 === 1 ? 'alpine:3.22' : 'ubuntu:26.04',
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type MixUp = (answer: AdmissionsResponse) => AdmissionsResponse;
const reversed: MixUp = (answer) => ({ ...answer, decisions: answer.decisions.toReversed() });

/** The real admit function, whose answers somebody mixes up on the way. */
function mixedUp(mixUp: MixUp): Hono {
  const { app } = admitApp(
    new MemoryStore({ instance: 'mixed-up.example.com' }),
    flowRules([{ on: { group: 100 }, money: 1_000_000, per: 'month' }], [IMAGES]),
  );
  const front = new Hono();
  front.post('*', async (c) => {
    const response = await app.fetch(c.req.raw);
    return c.json(mixUp((await response.json()) as AdmissionsResponse));
  });
  return front;
}

/** Every way there is to the function. */
const ROUTES: Readonly<Record<string, (app: Hono) => Promise<{ baseUrl: string; fetch: Fetch }>>> = {
  plain: async (app) => {
    const server = await listen(app);
    ends.push(() => server.close());
    return { baseUrl: server.url, fetch };
  },
  url: async (app) => {
    const server = await listen(app);
    ends.push(() => server.close());
    return { baseUrl: server.url, fetch: urlRoute(fetch) };
  },
  invoke: async (app) => {
    const lambda: Fetch = async (_, init) => {
      const { rawPath, body } = JSON.parse(String(init.body)) as { rawPath: string; body: string };
      const response = await app.request(rawPath, { method: 'POST', body });
      return Response.json({ statusCode: response.status, body: await response.text() });
    };
    const functionName = 'admit';
    const route = invokeRoute({
      fetch: lambda,
      endpoint: 'http://lambda.invalid',
      functionName,
      nowMs: Date.now,
    });
    return { baseUrl: INVOKE_URL, fetch: route };
  },
  inline: async (app) => ({
    baseUrl: INLINE_URL,
    fetch: async (url, init) => app.fetch(new Request(url, init)),
  }),
};

async function decided(route: string, mixUp: MixUp) {
  const way = await ROUTES[route]?.(mixedUp(mixUp));
  if (way === undefined) throw new Error(`no route ${route}`);
  const observe = (): void => {};
  const { send } = createForwarder({
    ...way,
    clock: systemRelayClock,
    random: Math.random,
    breaker: createBreaker(() => systemRelayClock.monotonicMs(), observe),
    observe,
  });
  let batches = 0;
  const commit = createGroupCommit({
    send,
    clock: systemRelayClock,
    observe,
    defer: setImmediate,
    newBatchId: () => {
      batches += 1;
      return `batch-${batches}`;
    },
  });
  const deadlineMs = systemRelayClock.monotonicMs() + DEADLINE_MS;
  const jobIds = Array.from({ length: JOBS }, (_, index) => index + 1);
  const verdicts = await Promise.all(
    jobIds.map(async (jobId) => ({ jobId, verdict: await commit.decide(requestOf(jobId), deadlineMs) })),
  );
  commit.close();
  const right = verdicts.filter(
    ({ jobId, verdict }) => verdict.outcome === (jobId % 2 === 1 ? 'admitted' : 'rejected'),
  );
  const undecided = verdicts.filter(({ verdict }) => verdict.outcome === 'undecided');
  return {
    right: right.length,
    undecided: undecided.length,
    wrong: JOBS - right.length - undecided.length,
    ofOthers: verdicts.filter(
      ({ jobId, verdict }) =>
        (verdict.outcome === 'admitted' || verdict.outcome === 'rejected') &&
        verdict.decisionId !== `d-${jobId}-1`,
    ).length,
  };
}

test.each(Object.keys(ROUTES))(
  '%s: answers in another order are everybody’s own all the same',
  async (route) => {
    expect(await decided(route, reversed)).toEqual({ right: JOBS, undecided: 0, wrong: 0, ofOthers: 0 });
  },
);

test.each(Object.keys(ROUTES))('%s: answers without job ids decide nothing', async (route) => {
  const nameless: MixUp = ({ batch, decisions }) => ({
    ...(batch !== undefined && { batch }),
    decisions: decisions.map(({ jobId: _, ...decision }) => decision),
  });
  expect(await decided(route, nameless)).toMatchObject({ undecided: JOBS, wrong: 0 });
});

test('an answer that belongs to another batch decides nothing', async () => {
  let before: AdmissionsResponse | undefined;
  const oneLate: MixUp = (answer) => {
    const late = before ?? answer;
    before = answer;
    return late;
  };
  expect(await decided('plain', oneLate)).toMatchObject({ wrong: 0, ofOthers: 0 });
});
