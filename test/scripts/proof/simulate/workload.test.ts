import { expect, test } from 'vitest';
import { STAGES } from '../../../../scripts/local/random.ts';
import { drawEditions } from '../../../../scripts/proof/simulate/draw-editions.ts';
import { workloadOf } from '../../../../scripts/proof/simulate/draw-workload.ts';
import { trueMicros } from '../../../../scripts/proof/simulate/true-cost.ts';
import { MONTH_END_MS, MONTH_START_MS, OUTAGE, SHAPE } from '../../../../scripts/proof/simulate/workload.ts';

const workload = workloadOf({ ...SHAPE, jobs: 20_000 });
const { jobs, places } = workload;

const share = (of: (job: (typeof jobs)[number]) => boolean): number => jobs.filter(of).length / jobs.length;

test('the month has 200 groups in three levels, and every project stands below all three', () => {
  expect(places.groups.map(({ level }) => level).sort()).toEqual([
    ...Array(10).fill(1),
    ...Array(40).fill(2),
    ...Array(150).fill(3),
  ]);
  const parentOf = new Map(places.groups.map(({ id, parentId }) => [id, parentId]));
  for (const { groupIds } of places.projects) {
    const [root, middle, leaf] = groupIds;
    expect([parentOf.get(leaf), parentOf.get(middle), parentOf.get(root)]).toEqual([middle, root, undefined]);
  }
});

test('losses, repeats and bypass have the shares that are promised', () => {
  expect(share(({ fate, endDelaysMs }) => fate !== 'vanished' && endDelaysMs.length === 0)).toBeCloseTo(
    0.05,
    2,
  );
  expect(share(({ endDelaysMs }) => endDelaysMs.length > 1)).toBeCloseTo(0.01, 2);
  expect(share(({ lateRunningMs }) => lateRunningMs !== undefined)).toBeCloseTo(0.02, 2);
  expect(share(({ fate }) => fate === 'bypass')).toBeCloseTo(0.005, 2.5);
  expect(share(({ askedAgainMs }) => askedAgainMs !== undefined)).toBeCloseTo(0.1, 1.5);
});

test('people change everything that they can change while the month goes on', () => {
  const editions = drawEditions(workload);
  const [first, ...later] = editions.map(({ edition }) => edition);
  const limits = later.flatMap((edition) => edition.limits);
  const started = new Map(first?.limits.map((limit) => [`${limit.subject} ${limit.id}`, limit]));
  const changed = limits.filter((limit) => started.get(`${limit.subject} ${limit.id}`) !== limit);
  expect(changed.some(({ amount }) => amount === 0)).toBe(true);
  expect(changed.some(({ amount }) => amount === 'unlimited')).toBe(true);
  expect(new Set(changed.map(({ unit }) => unit))).toEqual(new Set(['micros', 'starts', 'jobs']));
  const modes = changed.filter(({ subject, id, mode }) => started.get(`${subject} ${id}`)?.mode !== mode);
  expect(new Set(modes.map(({ mode }) => mode))).toEqual(new Set(['enforce', 'shadow']));
  expect(first?.grants.length).toBeGreaterThan(0);
  expect(first?.exemptions.length).toBeGreaterThan(0);
  expect(first?.prices.length).toBeGreaterThan(2);
  const last = later.at(-1);
  const moved = [...(last?.parentOf ?? [])].filter(([id, parent]) => first?.parentOf.get(id) !== parent);
  expect(moved.length).toBeGreaterThan(5);
  const times = editions.map(({ fromMs }) => fromMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test('questions come in their order, within the month, on working hours, and none while GitLab is away', () => {
  const times = jobs.map(({ askedAtMs }) => askedAtMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(MONTH_START_MS);
  expect(times.at(-1)).toBeLessThan(MONTH_END_MS);
  expect(times.some((atMs) => atMs >= OUTAGE.fromMs && atMs < OUTAGE.untilMs)).toBe(false);
  const hourOf = (atMs: number): number => ((atMs - MONTH_START_MS) / 3_600_000) % 24;
  expect(share(({ askedAtMs }) => hourOf(askedAtMs) >= 8 && hourOf(askedAtMs) < 19)).toBeGreaterThan(0.8);
});

test('the runs of one job of one project lie around one median, and no run is longer than its timeout', () => {
  const e2e = STAGES.flat().find(({ name }) => name === 'e2e');
  const seconds = jobs
    .filter(({ project, kind }) => project === 0 && kind === e2e)
    .map(({ durationSeconds }) => durationSeconds)
    .toSorted((a, b) => a - b);
  const drawn = places.projects[0]?.medianSeconds.get('e2e') ?? 0;
  expect((seconds[seconds.length >> 1] ?? 0) / drawn).toBeGreaterThan(0.8);
  expect((seconds[seconds.length >> 1] ?? 0) / drawn).toBeLessThan(1.25);
  expect(share(({ durationSeconds, kind }) => durationSeconds > kind.timeoutSeconds)).toBe(0);
});

test.each([
  { durationSeconds: 60, micros: 12_500, guarantee: 'a minute costs the price of a minute' },
  { durationSeconds: 0.2, micros: 209, guarantee: 'a begun second and a begun micro-unit count' },
  { durationSeconds: 60.001, micros: 12_709, guarantee: 'a begun second of the next minute counts' },
])('$guarantee', ({ durationSeconds, micros }) => {
  const [lint] = STAGES[0] ?? [];
  expect(lint && trueMicros({ kind: lint, durationSeconds }, MONTH_START_MS)).toBe(micros);
});
