/** A relay at a router, with the admit function and without: what it says to CloudWatch is what happened. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { startEmf, WRITE_EVERY_MS } from '../../../relay/monitoring/cloudwatch.ts';
import { RELAY_METRICS } from '../../../relay/names.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { emfProblems, measuredOf } from '../../support/emf-spec.ts';
import { admitApp, answers, flowRelay, flowRules, listen, question, TOKEN } from '../../support/flow/flow.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { until } from '../../support/flow/until.ts';

test('every metric in the names of the relay is written by a relay at work, and no other', async () => {
  const clock = handClock(1_000);
  const lines: string[] = [];
  const emf = startEmf({
    deployment: 'production',
    clock,
    random: () => 0.5,
    write: (line) => lines.push(line),
  });
  const rules = flowRules([{ on: { group: 100 }, jobs: 2, wait: '1s' }]);
  const { app } = admitApp(new MemoryStore({ instance: 'emf.example.com' }), rules);
  let on = true;
  const front = new Hono();
  front.all('*', (c) => (on ? app.fetch(c.req.raw) : c.json({ problems: ['off'] }, 503)));
  const server = await listen(front);
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  const { relay, events } = flowRelay(router.grpcUrl ?? '', server.url, rules, { deadlineMs: 2_000 });
  relay.start();
  await router.until(() => router.waitingStreams() > 0);

  // Two jobs fit, the third waits in vain and is rejected; the fourth belongs to another group and finds nobody to ask.
  for (const jobId of [1, 2, 3]) await router.admit(question(jobId));
  on = false;
  const other = question(4, 7);
  const elsewhere = { namespace_id: 900, root_namespace_id: 900, project_full_path: 'beta/web' };
  await router.admit({ ...other, job_info: { ...other.job_info, ...elsewhere } });
  await until(() => answers(events).length === 4);
  for (const event of events.splice(0)) emf.observe(event);
  clock.advance(WRITE_EVERY_MS);

  expect(lines.map(emfProblems)).toEqual([[]]);
  const { values } = measuredOf(lines[0] ?? '');
  expect(Object.keys(values).sort()).toEqual(RELAY_METRICS.map(({ name }) => name).sort());
  expect(values).toMatchObject({
    Questions: [4],
    Admitted: [3],
    Rejected: [1],
    FallbackAnswers: [1],
    UnreadableQuestions: [0],
    Reconnects: [0],
    UnmeteredQueued: [1],
    UnmeteredDropped: [0],
  });
  expect(values.AnswerLatencyMs).toHaveLength(4);
  expect(values.WaitMs).toHaveLength(1);
  expect(values.Waiting).toEqual([1]);
  expect(new Set(values.BatchJobs)).toEqual(new Set([1]));
  expect(values.StreamsOpen?.[0]).toBeGreaterThan(0);

  emf.leave();
  await relay.stop();
  await router.close();
  await server.close();
  emf.stop();
});
