/** A relay on a real socket before a router that ends answered streams in every way there is. */
import { expect, onTestFinished, test } from 'vitest';
import type { RelayEvent } from '../../relay/events.ts';
import { flowRelay, flowRules, question } from '../support/flow/flow.ts';
import { until as untilTrue } from '../support/flow/until.ts';
import { type BareRouter, bareRouter, type Ending } from '../support/relay/bare-router.ts';
import { range } from '../support/relay/commit-bench.ts';
import { decidingService, REJECTED_IMAGE } from '../support/relay/deciding-service.ts';

const INVALID_MESSAGE = 'value length must be at most 500 characters';
const INVALID: Ending = { status: 3, message: INVALID_MESSAGE };

async function relayBefore(text = 'IMAGE_NOT_ALLOWED: no.') {
  const router = await bareRouter();
  const reason = { code: 'IMAGE_NOT_ALLOWED', image: REJECTED_IMAGE, allowed: [] };
  const service = await decidingService(({ image }) =>
    image === REJECTED_IMAGE ? { rule: 'images', class: 'security', reason, text } : undefined,
  );
  const { relay, events } = flowRelay(router.url, service.url, flowRules([]));
  relay.start();
  onTestFinished(async () => {
    await relay.stop();
    await router.close();
    await service.close();
  });
  const told = (type: RelayEvent['type'], standing?: string): Promise<void> =>
    untilTrue(() =>
      events.some(
        (event) =>
          event.type === type && (standing === undefined || ('state' in event && event.state === standing)),
      ),
    );
  return { router, events, told };
}

const bad = (jobId: number) => ({ ...question(jobId), image: { name: REJECTED_IMAGE } });

/** Asks until the relay answers such a job like this; more than a few are a relay that never will. */
async function until(router: BareRouter, arms: string, fromJobId: number): Promise<void> {
  for (const jobId of range(fromJobId, fromJobId + 50)) {
    if ((await router.ask(bad(jobId))).arms === arms) return;
  }
  throw new Error(`no answer was ${arms}`);
}

test('a refused admission stops rejections and says so; they come back once several projects’ admissions are taken', async () => {
  const { router, events, told } = await relayBefore();
  await until(router, 'rejected', 1);
  await router.ask(question(100), INVALID);
  await told('answer_refused');
  expect(events.findLast(({ type }) => type === 'answer_refused')).toMatchObject({
    outcome: 'admitted',
    refusal: expect.stringContaining(INVALID_MESSAGE),
  });
  expect((await router.ask(bad(101))).arms).toBe('admitted');
  // While each is refused there is no proof, however many are asked about.
  for (const jobId of range(102, 130)) await router.ask(question(jobId, 5_000 + (jobId % 5)), INVALID);
  expect((await router.ask(bad(131))).arms).toBe('admitted');
  for (const jobId of range(132, 140)) await router.ask(question(jobId, 5_000 + (jobId % 5)));
  await until(router, 'rejected', 200);
});

test('a router that does not accept reasons: each refusal is told, the next reason is a short one, and it is taken', async () => {
  const { router, events, told } = await relayBefore(`IMAGE_NOT_ALLOWED: ${'x'.repeat(400)}`);
  const refused = await router.ask(bad(1), INVALID);
  expect(refused.reason).toContain('IMAGE_NOT_ALLOWED');
  await told('answer_refused');
  expect(events.findLast(({ type }) => type === 'answer_refused')).toMatchObject({ outcome: 'rejected' });
  for (const jobId of range(2, 30)) {
    const { arms, reason } = await router.ask(bad(jobId));
    expect(arms).toBe('rejected');
    expect(reason.length).toBeLessThan(100);
    expect(reason).not.toContain('IMAGE');
  }
});

test('a router that refuses the short reason, too, does not speak this schema: nothing is rejected any more', async () => {
  const { router, told } = await relayBefore();
  await router.ask(bad(1), INVALID);
  await told('answer_refused');
  expect((await router.ask(bad(2), INVALID)).arms).toBe('rejected');
  await told('schema', 'suspect');
  expect((await router.ask(bad(3))).arms).toBe('admitted');
});
