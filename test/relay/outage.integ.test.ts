/** Fallback decisions over real sockets: the admit function learns of each, or its loss is counted. */
import { expect, onTestFinished, test } from 'vitest';
import { flowRelay, flowRules, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { until } from '../support/flow/until.ts';
import { range } from '../support/relay/commit-bench.ts';
import { decidingService } from '../support/relay/deciding-service.ts';
import { reported } from '../support/relay/reported.ts';

async function relayInOutage() {
  const service = await decidingService();
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  const { relay, events } = flowRelay(router.grpcUrl ?? '', service.url, flowRules([]), {
    deadlineMs: 300,
  });
  onTestFinished(async () => {
    await relay.stop();
    await router.close();
    await service.close();
  });
  relay.start();
  await router.until(() => router.waitingStreams() > 0);
  const ask = async (...jobIds: readonly number[]): Promise<void> => {
    const answers = await Promise.all(jobIds.map((jobId) => router.admit(question(jobId))));
    expect(answers.filter(({ result }) => result !== 'admitted')).toEqual([]);
  };
  return { service, relay, events, ask };
}

test.each([
  { back: true, guarantee: 'delivers all 300 decisions to a service that is back' },
  { back: false, guarantee: 'counts, logs and measures all 300 as lost if the service stays away' },
])('a relay that stops while the breaker is open $guarantee', async ({ back }) => {
  const { service, relay, events, ask } = await relayInOutage();
  service.admissions = 503;
  service.unmetered = 503;
  for (let jobId = 1; jobId <= 300; jobId += 20) await ask(...range(jobId, jobId + 19));
  await until(() => relay.status().breaker === 'open');
  if (back) service.unmetered = 200;
  await relay.stop();
  const { log, values } = reported(events);
  expect(values.UnmeteredDropped).toEqual(back ? undefined : [300]);
  expect(service.recorded).toHaveLength(back ? 300 : 0);
  const losses = log.filter(({ message }) => message === 'fallback answers lost');
  expect(losses).toMatchObject(
    back ? [] : [{ level: 'error', why: 'stopping', count: 300, jobIds: { length: 100 } }],
  );
});
