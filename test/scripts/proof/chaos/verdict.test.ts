import { expect, test } from 'vitest';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { drawFaults, FAULTS } from '../../../../scripts/proof/chaos/faults.ts';
import { type ChaosRun, DecisionLog, OverLimit, roomError } from '../../../../scripts/proof/chaos/observe.ts';
import { type ChaosResult, chaosText, promisesOf } from '../../../../scripts/proof/chaos/run-chaos.ts';

const GOOD: ChaosResult = {
  asked: 10,
  answered: { admitted: 8, rejected: 1, failed: 1 },
  decisions: { ledger: 6, admitted: 2, rejected: 1, withheld: 0 },
  faults: { 'relay killed': 1 },
  commits: 20,
  overLimits: [{ counter: 'instance|jobs-now|now', limit: 40, mostOver: 2 }],
  ledgerOver: 0,
  roomError: { most: { instance: 1 }, unexplained: 0 },
  runningMost: 41,
  unanswered: [],
  cut: 1,
  nowhere: [],
  diedWithRelay: 0,
  declaredLost: 0,
  wrong: [],
  drift: 0,
  counters: 3,
  lateMs: 20,
  swept: 0,
  liveLeft: 0,
};
const brokenIn = (result: ChaosResult): readonly string[] =>
  promisesOf(result).flatMap(({ what, got }) => (got === 0 ? [] : [what]));

test('a good run breaks no promise, and prints the error of the room', () => {
  expect(brokenIn(GOOD)).toEqual([]);
  expect(chaosText(GOOD)).toContain('2 of 40 (5.0 %)');
  expect(chaosText(GOOD)).toMatch(/instance +1 of 40 \(2\.5 %\)/);
  expect(chaosText(GOOD)).toContain('41 jobs really ran, of 40');
});

test('a machine that was too busy for its own questions is told, beside what it makes of the answers', () => {
  expect(chaosText(GOOD)).not.toContain('too busy');
  expect(chaosText({ ...GOOD, lateMs: 41_200 })).toContain('too busy: questions were asked up to 41 s late');
});

test.each<Partial<ChaosResult>>([
  { ledgerOver: 1 },
  { roomError: { most: { instance: 1 }, unexplained: 1 } },
  { unanswered: ['job 1'] },
  { nowhere: ['job 1'] },
  { wrong: ['job 1'] },
  { drift: 1 },
  { liveLeft: 1 },
])('%o breaks one promise', (bad) => {
  expect(brokenIn({ ...GOOD, ...bad })).toHaveLength(1);
});

test('over a limit is what the ledger admitted beyond it; what relays admitted alone is the error of their room', () => {
  const over = new OverLimit();
  const counter = (committed: number, unmetered: number): Counter => ({
    key: { subject: 'instance', limit: 'jobs-now', period: 'now' },
    committed,
    fitted: committed,
    settled: 0,
    unchecked: { unmetered, bypass: 0, exempt: 0 },
    rev: 1,
  });
  for (const each of [counter(40, 0), counter(43, 5), counter(41, 1)]) over.look(each);
  expect([over.broken, over.figures.map(({ mostOver }) => mostOver)]).toEqual([0, [3]]);
  over.look(counter(41, 0));
  expect(over.broken).toBe(1);
});

test('the room’s error is what really ran beyond a cap, and only jobs that relays admitted alone explain it', () => {
  // Jobs of the group with a cap of 14: sixteen side by side, then one after the other.
  const runs = Array.from({ length: 20 }, (_, index): ChaosRun => {
    const fromMs = index < 16 ? index : 1_000 + 10 * index;
    return { jobId: index, projectId: 2000, fromMs, toMs: index < 16 ? 900 : fromMs + 10 };
  });
  const admittedAlone = (...jobIds: readonly number[]) => roomError(runs, (jobId) => !jobIds.includes(jobId));
  expect(admittedAlone(14, 15)).toEqual({ most: { instance: 0, 'group/100': 2 }, unexplained: 0 });
  expect(admittedAlone(3).unexplained).toBe(1);
  expect(admittedAlone().unexplained).toBe(2);
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

test('the relays’ lines say who answered, at which place, and what is lost', () => {
  const log = new DecisionLog();
  const decision = { message: 'decision', jobId: 1, outcome: 'admitted' };
  const lines = [
    { ...decision, via: 'ledger' },
    { ...decision, jobId: 2, via: 'fallback', cause: 'unreachable' },
    { ...decision, jobId: 3, outcome: 'rejected', via: 'fallback', cause: 'unreachable', heard: false },
    { ...decision, jobId: 4, via: 'fallback', cause: 'schema_unproven' },
    { message: 'fallback answers lost', jobIds: [8, 9] },
  ];
  for (const line of lines) log.hear(JSON.stringify(line), 1);
  for (const line of ['{"_aws":{}}', 'no JSON']) log.hear(line, 0);
  expect([...log.byLedger]).toEqual([1]);
  expect(log.counts).toEqual({ ledger: 1, admitted: 1, rejected: 1, withheld: 1 });
  expect(log.byJob.get(3)).toBe('rejected by fallback, unreachable, not heard');
  expect([log.relayOf.get(4), [...log.lostJobs]]).toEqual([1, [8, 9]]);
});
