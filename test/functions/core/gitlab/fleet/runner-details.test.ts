import { expect, test } from 'vitest';
import {
  type FleetRunner,
  GitLabError,
  type RunnerManager,
} from '../../../../../functions/core/gitlab/gitlab.ts';
import { runnerDetails } from '../../../../../functions/core/gitlab/kept-answers.ts';
import { manualClock } from '../../../../support/ledger/test-clock.ts';

interface Bench {
  readonly managers?: Readonly<Record<number, readonly RunnerManager[]>>;
  /** Thrown instead of an answer. */
  readonly failing?: (id: number) => Error | undefined;
  /** One call takes so long. */
  readonly takesMs?: number;
}

function bench({ managers = {}, failing = () => undefined, takesMs = 0 }: Bench = {}) {
  const clock = manualClock();
  const asked: number[] = [];
  const warnings: string[] = [];
  const fleet = {
    runner: async (id: number): Promise<FleetRunner | undefined> => {
      asked.push(id);
      clock.advance(takesMs);
      const error = failing(id);
      if (error !== undefined) throw error;
      return id > 900 ? undefined : aRunner(id);
    },
    managers: async (id: number) => ({ managers: managers[id] ?? [aManager('19.4.0')] }),
  };
  const log = { warn: (message: string) => void warnings.push(message) };
  return { clock, asked, warnings, details: runnerDetails({ fleet, clock, log }) };
}

const aRunner = (id: number): FleetRunner => ({
  ...{ id, description: `linux-${id}`, type: 'instance_type', paused: false, status: 'online', tags: [] },
  ...{ runUntagged: true, locked: false, accessLevel: 'not_protected', ownerIds: [] },
});

const aManager = (version?: string, status = 'online'): RunnerManager => ({
  ...{ systemId: 's_1', status },
  ...(version !== undefined && { version }),
});

const ids = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

test('a version is that of the oldest manager that still works, as numbers; a runner that is gone has none', async () => {
  const { details } = bench({
    managers: {
      1: [aManager('19.4.0'), aManager('18.9.3'), aManager('18.10.0'), aManager('17.0.0', 'stale')],
      2: [aManager('17.0.0', 'stale')],
      3: [aManager()],
    },
  });
  expect(Object.fromEntries(await details([1, 2, 3, 901]))).toEqual({
    1: { description: 'linux-1', version: '18.9.3' },
    2: { description: 'linux-2', version: '17.0.0' },
    3: { description: 'linux-3' },
    901: {},
  });
});

test('what is known is asked for again after ten minutes', async () => {
  const { clock, asked, details } = bench();
  await details([1, 2]);
  clock.advance(9 * 60_000);
  await details([1, 2, 3]);
  expect(asked).toEqual([1, 2, 3]);
  clock.advance(2 * 60_000);
  await details([1, 2, 3]);
  expect(asked).toEqual([1, 2, 3, 1, 2]);
});

test('a large fleet is learned a hundred runners at a time, and no answer waits for a slow GitLab', async () => {
  const quick = bench();
  expect((await quick.details(ids(250))).size).toBe(100);
  expect((await quick.details(ids(250))).size).toBe(200);
  const slow = bench({ takesMs: 1_000 });
  await slow.details(ids(250));
  expect(slow.asked.length).toBeLessThanOrEqual(8);
});

test('a GitLab that fails is left alone for a minute, and what was known is still told', async () => {
  let isDown = false;
  const { clock, asked, warnings, details } = bench({
    failing: () => (isDown ? new GitLabError('gitlab_unavailable', 'silent') : undefined),
  });
  await details([1]);
  isDown = true;
  clock.advance(11 * 60_000);
  expect(Object.fromEntries(await details(ids(50)))).toEqual({
    1: { description: 'linux-1', version: '19.4.0' },
  });
  const before = asked.length;
  expect(before).toBeLessThan(12);
  await details(ids(50));
  expect(asked).toHaveLength(before);
  expect(warnings).toEqual(['GitLab does not tell of runners']);
  isDown = false;
  clock.advance(60_000);
  expect((await details(ids(50))).size).toBe(50);
});

test('one answer that cannot be read says nothing of the other runners', async () => {
  const { warnings, details } = bench({
    failing: (id) => (id === 2 ? new GitLabError('gitlab_unreadable', 'odd') : undefined),
  });
  expect(Object.fromEntries(await details([1, 2, 3]))).toMatchObject({
    1: { version: '19.4.0' },
    2: {},
    3: {},
  });
  expect(warnings).toEqual([]);
});
