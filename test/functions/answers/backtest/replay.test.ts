import { expect, test } from 'vitest';
import { Replay } from '../../../../functions/answers/backtest/replay.ts';
import { ReplayRequests } from '../../../../functions/answers/backtest/replay-requests.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { someFacts } from '../../../support/ledger/asks.ts';

const POLICY = aPolicy({
  rules: [
    { id: 'slots', kind: 'concurrency', mode: 'enforce' },
    { id: 'windows', kind: 'window', mode: 'enforce' },
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
  ],
});
/** A whole minute, so that windows turn at seconds the tests can name. */
const BEGIN_MS = Math.floor(NOW_MS / 60_000) * 60_000;

interface Life {
  readonly atSeconds: number;
  readonly ranSeconds?: number;
}

/** What becomes of jobs under a limit: `at once`, `rejected`, or after how many seconds. */
function fates(limits: readonly object[], lives: readonly Life[]) {
  const set = someLimits({ limits }, POLICY, aDirectory);
  const replay = new Replay(
    new ReplayRequests({ policy: POLICY, limits: set, directory: aDirectory }),
    BEGIN_MS,
  );
  return lives.map(({ atSeconds, ranSeconds }, at) => {
    const decidedAtMs = BEGIN_MS + atSeconds * 1_000;
    const record: JobRecord = {
      ...{ jobId: at + 1, generation: 1, rev: 1, entries: 0, answered: 'ledger', flagged: false },
      ...{ claims: [], violations: [], shadow: [], decidedAtMs },
      facts: someFacts({ rootId: 100, groupId: 104, projectId: 1 }),
      ...(ranSeconds === undefined
        ? { state: 'HELD' }
        : {
            state: 'SETTLED',
            durationSeconds: ranSeconds,
            endedAtMs: decidedAtMs + ranSeconds * 1_000,
          }),
    };
    const lived = replay.next(record);
    if (lived?.now?.state === 'REJECTED') return 'rejected';
    return lived?.waitedMs === undefined ? 'at once' : lived.waitedMs / 1_000;
  });
}

const slots = (jobs: number, wait?: string) => ({
  on: { group: 104 },
  jobs,
  ...(wait !== undefined && { wait }),
});

test('a job whose limit lets it wait is admitted when a slot is free, and rejected if none is in time', () => {
  const lives = [
    { atSeconds: 0, ranSeconds: 30 },
    { atSeconds: 15, ranSeconds: 30 },
    { atSeconds: 17, ranSeconds: 30 },
  ];
  expect(fates([slots(1, '20s')], lives)).toEqual(['at once', 15, 'rejected']);
  expect(fates([slots(1)], lives)).toEqual(['at once', 'rejected', 'rejected']);
});

test('who waits for a slot has it: whoever comes later waits for the next, and a job that began late ends late', () => {
  const lives = [
    { atSeconds: 0, ranSeconds: 10 },
    { atSeconds: 0, ranSeconds: 20 },
    { atSeconds: 1, ranSeconds: 30 },
    { atSeconds: 2, ranSeconds: 30 },
    { atSeconds: 11, ranSeconds: 30 },
    { atSeconds: 39, ranSeconds: 30 },
  ];
  expect(fates([slots(2, '20s')], lives)).toEqual(['at once', 'at once', 9, 18, 'rejected', 1]);
});

test('a limit on starts gives room when its window turns, once for each start', () => {
  const limits = [{ on: { group: 104 }, starts: 1, per: 'minute', wait: '20s' }];
  const lives = [5, 30, 45, 50, 59].map((atSeconds) => ({ atSeconds, ranSeconds: 1 }));
  expect(fates(limits, lives)).toEqual(['at once', 'rejected', 15, 'rejected', 'rejected']);
});
