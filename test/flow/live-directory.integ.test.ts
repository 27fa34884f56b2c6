import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { HandOutDirectory } from '../../functions/core/admission/judge.ts';
import { handOutKnown } from '../../functions/core/directory/hand-out.ts';
import { type Directory, directoryOf } from '../../policies/directory.ts';
import { flowRelay, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { until } from '../support/flow/until.ts';

/** Below acme/payments only alpine may run; what cannot be told is refused. */
const IMAGES = {
  id: 'images',
  kind: 'image',
  class: 'security',
  mode: 'enforce',
  on_error: 'closed',
  match: { groups: [101] },
  allow: ['alpine:*'],
};
const group = (id: number, path: string, parentId?: number) => ({
  id,
  path,
  personal: false,
  ...(parentId !== undefined && { parentId }),
});
const acme = group(100, 'acme');
const payments = group(101, 'acme/payments', 100);
const inPayments = directoryOf([acme, payments, group(103, 'acme/payments/cards', 101)]);
const movedOut = directoryOf([acme, payments, group(103, 'acme/cards', 100)]);

const ubuntuIn103 = (jobId: number) => {
  const asked = question(jobId);
  const job_info = { ...asked.job_info, namespace_id: 103, project_full_path: 'acme/elsewhere/cards/api' };
  return { ...asked, job_info, image: { name: 'ubuntu:26.04' } };
};

/** A service that hands out this directory and decides nothing. */
async function house(directory: Directory | undefined) {
  const state = { directory };
  const handOut: HandOutDirectory = (have) =>
    state.directory === undefined ? Promise.resolve({ live: false }) : handOutKnown(state.directory)(have);
  const app = new Hono();
  app.post('/v1/directory', async (c) => c.json(await handOut((await c.req.json()).have)));
  app.all('*', (c) => c.body(null, 503));
  const server = await listen(app);
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  const rules = flowRules([], [IMAGES]);
  const { relay, events } = flowRelay(router.grpcUrl ?? '', server.url, rules, { deadlineMs: 300 });
  relay.start();
  await router.until(() => router.waitingStreams() > 0);
  await until(() => events.some(({ type }) => type === 'directory'));
  return {
    relay,
    admit: (jobId: number) => router.admit(ubuntuIn103(jobId)),
    stop: async () => {
      await relay.stop();
      await router.close();
      await server.close();
    },
  };
}

test.each([
  {
    name: 'made in acme/payments since the deployment',
    directory: inPayments,
    result: 'rejected',
    says: /ubuntu/,
  },
  {
    name: 'moved out of acme/payments since the deployment',
    directory: movedOut,
    result: 'admitted',
    says: undefined,
  },
  {
    name: 'in no directory that the relay has',
    directory: undefined,
    result: 'rejected',
    says: /CONTROLLER_ERROR/,
  },
])(
  'while the function is down, the rules for a group $name: $result',
  async ({ directory, result, says }) => {
    const { relay, admit, stop } = await house(directory);
    expect(relay.status().directoryKnown).toBe(directory !== undefined);
    const answer = await admit(1);
    expect(answer.result).toBe(result);
    if (says !== undefined) expect(answer).toMatchObject({ reason: expect.stringMatching(says) });
    await stop();
  },
);
