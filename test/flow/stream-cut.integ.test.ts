import { expect, test } from 'vitest';
import { MemoryStore } from '../../functions/core/ledger/memory-store.ts';
import { admitApp, answers, flowRelay, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { until } from '../support/flow/until.ts';

const LIMIT = 1;

test.each(['after_question', 'before_reading', 'after_answer'] as const)(
  'fault 1: a connection reset %s changes nothing: asked again the job has the same decision, and is charged once',
  async (point) => {
    const rules = flowRules([{ on: { group: 100 }, jobs: LIMIT }]);
    const { app, ledger } = admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules);
    const server = await listen(app);
    const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
    const { relay, events } = flowRelay(router.grpcUrl ?? '', server.url, rules);
    relay.start();
    await router.until(() => router.waitingStreams() > 0);

    router.faults.cutStreams(point, { means: 'connection' });
    const cut = await router.admit(question(1));
    expect(cut.result).toBe(point === 'after_answer' ? 'admitted' : 'failed');
    await router.until(() => events.some(({ type }) => type === 'backing_off'), { what: 'the way back' });
    expect((await router.admit(question(1))).result, 'asked again').toBe('admitted');
    expect((await router.admit(question(2))).result, 'the place is taken').toBe('rejected');

    await until(() => answers(events).length === 3);
    const ids = answers(events).map(({ request, decision }) => {
      if (decision === undefined || !('decisionId' in decision)) throw new Error('the ledger did not decide');
      return `${request?.jobId} ${decision.decisionId}`;
    });
    expect(new Set(ids).size, 'one decision for each of the two jobs').toBe(2);
    const counters = await ledger.readCounters([{ subject: 'group/100', limit: 'jobs-now', period: 'now' }]);
    expect(counters[0]?.committed).toBe(LIMIT);
    expect((await ledger.readRecord(1))?.generation).toBe(1);

    await relay.stop();
    await router.close();
    await server.close();
  },
);
