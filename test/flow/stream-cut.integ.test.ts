import { expect, test } from 'vitest';
import { answers, flowRules, openFlow, question } from '../support/flow/flow.ts';
import { until } from '../support/flow/until.ts';

const LIMIT = 1;

test.each(['before_question', 'after_question', 'before_reading', 'after_answer'] as const)(
  'fault 1: a connection reset %s changes nothing: asked again the job has the same decision, and is charged once',
  async (point) => {
    const rules = flowRules([{ on: { group: 100 }, jobs: LIMIT }]);
    const { router, ledger, events } = await openFlow(rules);
    router.faults.cutStreams(point);
    const cut = await router.admit(question(1));
    expect(cut.result).toBe(point === 'after_answer' ? 'admitted' : 'failed');
    await router.until(() => events.some(({ type }) => type === 'backing_off'), { what: 'the way back' });
    expect(events.find(({ type }) => type === 'backing_off')).toMatchObject({ code: 14, attempt: 1 });
    expect((await router.admit(question(1))).result, 'asked again').toBe('admitted');
    expect((await router.admit(question(2))).result, 'the place is taken').toBe('rejected');

    await until(() => answers(events).length === (point === 'before_question' ? 2 : 3));
    const ids = answers(events).map(({ request, decision }) => {
      if (decision === undefined || !('decisionId' in decision)) throw new Error('the ledger did not decide');
      return `${request?.jobId} ${decision.decisionId}`;
    });
    expect(new Set(ids).size, 'one decision for each of the two jobs').toBe(2);
    const counters = await ledger.readCounters([{ subject: 'group/100', limit: 'jobs-now', period: 'now' }]);
    expect(counters[0]?.committed).toBe(LIMIT);
    expect((await ledger.readRecord(1))?.generation).toBe(1);
  },
);
