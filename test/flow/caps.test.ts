/** A loop and an agent meet their caps, and nobody else does. */
import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { aRequest } from '../scripts/cli/ledger-bench.ts';
import { admitApp, flowRules } from '../support/flow/flow.ts';
import { MemoryStore } from '../support/ledger/memory-store.ts';

const aJob = (jobId: number, over: Partial<AdmissionRequest> = {}): AdmissionRequest =>
  aRequest(jobId, { timeoutSeconds: 600, ...over });

interface Answer {
  readonly outcome: string;
  readonly violations?: readonly { readonly reason: { readonly subject?: string } }[];
}

function deciding(limits: readonly object[], rules: readonly object[] = []) {
  const { app, ledger } = admitApp(
    new MemoryStore({ instance: 'flow.example.com' }),
    flowRules(limits, rules),
  );
  const outcomes = async (...requests: readonly AdmissionRequest[]): Promise<readonly string[]> => {
    const response = await app.request('/v1/admissions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ requests, remainingMs: 5_000 }),
    });
    const { decisions } = (await response.json()) as { readonly decisions: readonly Answer[] };
    return decisions.map(({ outcome, violations = [] }) =>
      [outcome, ...violations.map(({ reason }) => reason.subject)].join(' '),
    );
  };
  return { outcomes, ledger };
}

test('a pipeline that used up its money gets no more jobs, and the next pipeline does', async () => {
  const { outcomes, ledger } = deciding([{ on: { each: 'pipeline', group: 100 }, money: 2.5, per: 'once' }]);
  const cap = 'group/100/each/pipeline';
  expect(await outcomes(aJob(1), aJob(2))).toEqual(['admitted', 'admitted']);
  expect(await outcomes(aJob(3), aJob(4, { pipelineId: 5001 }))).toEqual([
    `rejected ${cap}/5000`,
    'admitted',
  ]);
  const counters = await ledger.readCounters(
    ['5000', '5001'].map((id) => ({ subject: `${cap}/${id}`, limit: 'money-once', period: 'once' })),
  );
  expect(counters.map(({ committed }) => committed)).toEqual([2_000_000, 1_000_000]);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test('a job is retried twice and no more, and its neighbour is not counted', async () => {
  const window = { id: 'starts', kind: 'window', mode: 'enforce' };
  const { outcomes } = deciding([{ on: { each: 'pipeline_job' }, starts: 3, per: 'once' }], [window]);
  const lint = { jobName: 'lint 1/2' };
  expect(await outcomes(aJob(1), aJob(2), aJob(3), aJob(4, lint))).toEqual(Array(4).fill('admitted'));
  expect(await outcomes(aJob(5), aJob(6, lint))).toEqual([
    'rejected instance/each/pipeline_job/5000/unit',
    'admitted',
  ]);
});
