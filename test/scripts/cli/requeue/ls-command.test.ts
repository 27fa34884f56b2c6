import { expect, test } from 'vitest';
import type { RequeueEntry } from '../../../../functions/core/requeue-list.ts';
import { ledgerBench } from '../ledger-bench.ts';

const ENTRIES: readonly RequeueEntry[] = [
  {
    ...{ jobId: 7, projectId: 1001, root: 100, rejectedAtMs: 0, firstAtMs: 0 },
    ...{ state: 'retried', retries: 1, newJobId: 9, retriedAtMs: 60_000 },
  },
  {
    ...{ jobId: 8, projectId: 1001, root: 100, rejectedAtMs: 1_000, firstAtMs: 1_000 },
    ...{ state: 'waiting', retries: 0, why: 'GitLab answered 503' },
  },
];

async function list(requeue: readonly object[], ...args: string[]) {
  const bench = ledgerBench({ limits: [], policy: { requeue } });
  const read = async (groupId: number) => ({ groupId, entries: ENTRIES, rev: 1 });
  const lists = { read, write: async () => undefined };
  return bench.run('requeue ls', args, { beside: { requeue: lists } });
}

test('each group that agreed, with what waits and what became of the others', async () => {
  const { code, out } = await list([{ group: 101, retries: 2, within: '1h' }]);
  expect(code).toBe(0);
  expect(out).toContain('acme/payments: 1 waiting, 2 in all');
  expect(out).toMatch(/7 {2}retried +1 of 2 .*job 9: no admission request came yet/);
  expect(out).toMatch(/8 {2}waiting +0 of 2 .*GitLab answered 503/);
  const { groups } = JSON.parse((await list([{ group: 101, retries: 2, within: '1h' }], '--json')).out);
  expect(groups).toMatchObject([
    { groupId: 101, withinSeconds: 3_600, priority: 0, jobs: [{ jobId: 7 }, { jobId: 8 }] },
  ]);
});

test('where nobody agreed that is said', async () => {
  expect((await list([])).out).toContain('No group agreed');
});
