import { describe, expect, test } from 'vitest';
import { decide } from '../../../../functions/core/admission/decide.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { flowRules } from '../../../support/flow/flow.ts';
import { MemoryStore, type StoreFault } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const IMAGES = { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] };
const LIMIT = { on: { group: 101 }, money: 0, per: 'month' };

function house(announceFault?: StoreFault) {
  const clock = manualClock();
  const asked: string[] = [];
  const store = new MemoryStore({
    instance: 'notice.example.com',
    clock,
    fault: (operation) => {
      asked.push(operation);
      return operation === 'announce' ? announceFault : undefined;
    },
  });
  const rules = flowRules([LIMIT], [IMAGES]);
  const ledger = createLedger({ store, clock });
  const ask = async (requests: readonly object[], leftMs = 2_000): Promise<readonly string[]> => {
    const deps = { ledger, currentRules: async () => rules, clock, log: silentLog };
    const decisions = await decide(requests, clock.monotonicMs() + leftMs, deps);
    return decisions.map((decision) =>
      decision.outcome === 'rejected' ? (decision.notice ?? 'none') : decision.outcome,
    );
  };
  return { clock, ask, asked, ledger };
}

const aRequest = (jobId: number, more: object = {}) => ({
  jobId,
  jobName: 'unit',
  pipelineId: 5000,
  projectId: 1001,
  namespaceId: 101,
  rootNamespaceId: 100,
  image: 'alpine:3.22',
  timeoutSeconds: 3600,
  ...more,
});

test('a job that GitLab retries by itself is told of once, under whatever job id', async () => {
  const { ask } = house();
  expect(await ask([aRequest(1)])).toEqual(['first']);
  expect(await ask([aRequest(2)])).toEqual(['repeat']);
  expect(await ask([aRequest(3), aRequest(4)])).toEqual(['repeat', 'repeat']);
});

test.each([
  ['another pipeline', { pipelineId: 5001 }],
  ['another job', { jobName: 'lint' }],
  ['another project', { projectId: 1002 }],
  ['another reason', { image: 'ubuntu:26.04' }],
])('%s is told of by itself', async (_, more) => {
  const { ask } = house();
  expect(await ask([aRequest(1), aRequest(2, more)])).toEqual(['first', 'first']);
});

describe('whatever becomes of the notice, the decision stands', () => {
  test('a table that does not answer', async () => {
    const { ask } = house({ kind: 'lost-before' });
    expect(await ask([aRequest(1), aRequest(2)])).toEqual(['first', 'repeat']);
  });

  test('time that has nearly run out', async () => {
    const { asked, clock, ledger } = house();
    const slow = {
      ...ledger,
      hold: async (...args: Parameters<typeof ledger.hold>) => {
        const outcomes = await ledger.hold(...args);
        clock.advance(1_950);
        return outcomes;
      },
    };
    const deps = { ledger: slow, currentRules: async () => flowRules([LIMIT]), clock, log: silentLog };
    const [decision] = await decide([aRequest(1)], clock.monotonicMs() + 2_000, deps);
    expect(decision).toMatchObject({ outcome: 'rejected', notice: 'first' });
    expect(asked).toContain('transact');
    expect(asked).not.toContain('announce');
  });
});
