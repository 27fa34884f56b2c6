import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../scripts/local/random.ts';
import { drawFaults, FAULTS } from '../../../scripts/proof/chaos/faults.ts';
import { DecisionLog, OverLimit } from '../../../scripts/proof/chaos/observe.ts';
import { chaosHolds, chaosText } from '../../../scripts/proof/chaos/run-chaos.ts';

test('one broken promise breaks the run, and is named', () => {
  const result = (got: number) => ({
    ...{ faults: { 'relay killed': 1 }, asked: 10, answered: { admitted: 8 }, decisions: {}, cut: 1 },
    ...{ diedWithRelay: 0, declaredLost: 0, swept: 0, counters: 3, commits: 20, mostOver: 0.05 },
    ...{ runningMost: 41, lateMs: 41_200, promises: { 'holds left': { got, samples: [] } } },
  });
  expect([chaosHolds(result(0)), chaosHolds(result(1))]).toEqual([true, false]);
  expect(chaosText(result(1))).toContain('BROKEN  holds left: 1');
  expect(chaosText(result(1))).toContain('too busy: questions were asked up to 41 s late');
});

test('over a limit is what the ledger admitted beyond it, not what relays admitted alone', () => {
  const over = new OverLimit();
  const look = (committed: number, unmetered: number): void =>
    over.look({
      key: { subject: 'instance', limit: 'jobs-now', period: 'now' },
      ...{ committed, fitted: committed, settled: 0, rev: 1 },
      unchecked: { unmetered, bypass: 0, exempt: 0 },
    });
  look(40, 0);
  look(44, 5);
  expect([over.broken, over.mostOver]).toEqual([0, expect.closeTo(0.1)]);
  look(41, 0);
  expect(over.broken).toBe(1);
});

test('the same seed has the same faults, and each comes once before any comes again', () => {
  const drawn = (seed: number) => {
    const faults = drawFaults(seededRandom(seed));
    return Array.from({ length: 2 * FAULTS.length }, () => faults.next().value.name);
  };
  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(7)).not.toEqual(drawn(8));
  expect(new Set(drawn(7).slice(0, FAULTS.length)).size).toBe(FAULTS.length);
});

test('the relays’ lines say who decided, and what is lost', () => {
  const log = new DecisionLog();
  const fallback = { message: 'decision', via: 'fallback', cause: 'unreachable', outcome: 'rejected' };
  for (const line of [
    { message: 'decision', jobId: 1, outcome: 'admitted', via: 'ledger' },
    { ...fallback, jobId: 3, heard: false },
    { message: 'fallback answers lost', jobIds: [8, 9] },
  ])
    log.hear(JSON.stringify(line), 1);
  for (const line of ['{"_aws":{}}', 'no JSON']) log.hear(line, 0);
  expect(log.counts).toEqual({ 'admitted by ledger': 1, 'rejected by fallback, unreachable': 1 });
  expect(log.byJob.get(3)).toEqual({ text: 'rejected by fallback, unreachable, not heard', relay: 1 });
  expect([...log.lostJobs]).toEqual([8, 9]);
});

test.each([
  [['--help'], 0, FAULTS.at(-1)?.name],
  [['--seed', 'x'], 3, '--seed is "x"'],
  [['--minutes', '0'], 3, '--minutes is "0"'],
])('%j ends with %i before anything is started', (args, code, text) => {
  const program = fileURLToPath(new URL('../../../scripts/proof/chaos.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  expect([status, `${stdout}${stderr}`]).toEqual([code, expect.stringContaining(text ?? '')]);
});
