/** Authors who write what is too long to be read, before a relay on a real socket and the real rules. */
import { expect, onTestFinished, test } from 'vitest';
import { admitApp, answers, flowRelay, flowRules, listen, question } from '../support/flow/flow.ts';
import { MemoryStore } from '../support/ledger/memory-store.ts';
import { bareRouter } from '../support/relay/bare-router.ts';
import { range } from '../support/relay/commit-bench.ts';

const RULES = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] }];
const LONG = 'x'.repeat(5_000);
/** Eleven characters that expand to none. */
const HOLE = ['$', '{NOTHINGS}'].join('');
const EVIL = { image: { name: 'evil/image' } };

/** Everything that an author writes, beyond any bound. The image is one that no rule allows, where it is not the image itself. */
const HOSTILE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an image of 1038 characters that expands to a short name': {
    image: { name: `${HOLE.repeat(94)}evil` },
    variables: [{ key: 'NOTHINGS', value: '', public: true }],
  },
  'an endless image': { image: { name: LONG } },
  'an endless user': {
    image: { name: 'evil/image', executor_opts: { docker: { user: LONG }, kubernetes: { user: LONG } } },
  },
  'endless pull policies': { image: { name: 'evil/image', pull_policy: Array(101).fill(LONG) } },
  'more services than are read': { ...EVIL, services: Array(101).fill({ name: 'alpine:3' }) },
  'an endless service': { ...EVIL, services: [{ name: LONG, alias: LONG }] },
  'more tags than are read': { ...EVIL, job_info: { tags: Array(101).fill('tag') } },
  'an endless tag': { ...EVIL, job_info: { tags: [LONG] } },
  'endless names': { ...EVIL, job_info: { name: LONG, stage: LONG } },
  'an endless path': { ...EVIL, job_info: { project_full_path: `acme/${LONG}` } },
  'an endless ref': { ...EVIL, git_info: { ref: LONG } },
  'a timeout of many years': { ...EVIL, runner_info: { timeout: 2 ** 40 } },
  'a timeout of less than nothing': { ...EVIL, runner_info: { timeout: -1 } },
  'an endless variable': {
    ...EVIL,
    variables: [
      { key: 'KUBERNETES_CPU_REQUEST', value: LONG, public: true },
      { key: `KUBERNETES_${'X'.repeat(300)}`, value: '1', public: true },
      { key: `KUBERNETES_NODE_SELECTOR_${'X'.repeat(300)}`, value: 'a=b', public: true },
    ],
  },
  'the path of another project': { ...EVIL, job_info: { project_full_path: 'acme/payments/ledger' } },
};

test('three hostile projects cost no other project a rejection, and their own jobs meet every rule', async () => {
  const rules = flowRules([], RULES);
  const { app } = admitApp(new MemoryStore({ instance: 'gitlab.test' }), rules);
  const service = await listen(app);
  const router = await bareRouter();
  const { relay, events } = flowRelay(router.url, service.url, rules);
  relay.start();
  for (const end of [service.close, () => router.close(), () => relay.stop()]) onTestFinished(end);
  const kinds = Object.values(HOSTILE);
  const admitted = { others: 0, own: 0 };
  for (const round of range(1, 120)) {
    const attacks = [1, 2].map(async (part) => {
      const jobId = 10_000 + 2 * round + part;
      const { job_info, runner_info, ...asked } = question(jobId, 1001 + (jobId % 3));
      const hostile = kinds[jobId % kinds.length] ?? {};
      const { arms } = await router.ask({
        ...asked,
        ...hostile,
        job_info: { ...job_info, ...(hostile.job_info ?? {}) },
        runner_info: { ...runner_info, ...(hostile.runner_info ?? {}) },
      });
      if (arms === 'admitted') admitted.own += 1;
    });
    const other = router
      .ask({ ...question(20_000 + round, 7_000 + (round % 9)), ...EVIL })
      .then(({ arms }) => {
        if (arms === 'admitted') admitted.others += 1;
      });
    await Promise.all([...attacks, other]);
  }
  expect(admitted).toEqual({ others: 0, own: 0 });
  expect(relay.status().schema.state).toBe('proven');
  expect(answers(events).filter(({ via }) => via === 'fallback')).toEqual([]);
});
