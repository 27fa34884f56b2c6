import { expect, test } from 'vitest';
import { createLanes, type Lanes } from '../../../relay/commit/lanes.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { range } from '../../support/relay/commit-bench.ts';

function someLanes(busyShare?: () => number): { readonly clock: HandClock; readonly lanes: Lanes } {
  const clock = handClock(1_000);
  return { clock, lanes: createLanes(clock, busyShare) };
}

/** So many jobs of each root, evenly over a second. */
function second(lanes: Lanes, clock: HandClock, jobs: Readonly<Record<string, number>>): void {
  for (const [root, count] of Object.entries(jobs)) for (const _ of range(1, count)) lanes.noteJob(root);
  clock.advance(1_000);
}

/** Quiet roots of as many different lanes. */
function rootsApart(lanes: Lanes, count: number): readonly string[] {
  const byLane = new Map(range(1, 200).map((root) => [lanes.laneOf(String(root)), String(root)]));
  return [...byLane.values()].slice(0, count);
}

const together = (lanes: Lanes, ...roots: readonly string[]): boolean =>
  new Set(roots.map(lanes.laneOf)).size === 1;

test('quiet roots share eight lanes, about as many each', () => {
  const { lanes } = someLanes();
  const counts = new Map<string, number>();
  for (const root of range(1, 1_000)) {
    const lane = lanes.laneOf(String(root));
    counts.set(lane, (counts.get(lane) ?? 0) + 1);
  }
  expect(counts.size).toBe(8);
  expect(Math.min(...counts.values())).toBeGreaterThan(80);
});

test('a relay that is short of time makes four lanes of eight, then two, and eight again once it has plenty', () => {
  let busy = 0;
  const { lanes, clock } = someLanes(() => busy);
  const apart = () => new Set(range(1, 200).map((root) => lanes.laneOf(String(root))));
  const pass = (share: number): number => {
    busy = share;
    clock.advance(1_000);
    lanes.noteJob('1');
    return apart().size;
  };
  const eight = apart();
  const shares = [0.49, 0.5, 0.74, 0.75, 0.9, 0.55, 0.54, 0.36, 0.34, 0.49, 0.8, 0.2];
  const versions = new Set([lanes.version]);
  const sizes = shares.map((share) => {
    const size = pass(share);
    versions.add(lanes.version);
    return size;
  });
  expect(sizes).toEqual([8, 4, 4, 2, 2, 2, 4, 4, 8, 8, 2, 8]);
  expect(versions.size).toBe(7);
  expect(apart()).toEqual(eight);
});

test('a relay that gets busy sees it within a quarter of a second, however long it was idle', () => {
  let busy = 0.9;
  const { lanes, clock } = someLanes(() => busy);
  const lanesNow = () => new Set(range(1, 200).map((root) => lanes.laneOf(String(root)))).size;
  const noted = (afterMs: number): number => {
    clock.advance(afterMs);
    lanes.noteJob('1');
    return lanesNow();
  };
  expect([noted(249), noted(1)]).toEqual([8, 2]);
  busy = 0;
  expect(noted(60_000)).toBe(8);
  busy = 0.9;
  expect([noted(249), noted(1)]).toEqual([8, 2]);
});

test('lanes that are one because time is short take with them what was fought for in either', () => {
  const { lanes, clock } = someLanes(() => 0.6);
  const byLane = new Map(range(1, 200).map((root) => [lanes.laneOf(String(root)), String(root)]));
  const of = (lane: number): string => byLane.get(`quiet ${lane}`) ?? '';
  lanes.noteContended('instance', [of(0), of(5)]);
  expect(together(lanes, of(0), of(5))).toBe(true);
  expect(together(lanes, of(0), of(4))).toBe(false);
  clock.advance(1_000);
  lanes.noteJob('1');
  expect(together(lanes, of(0), of(4), of(1), of(5))).toBe(true);
  expect(together(lanes, of(0), of(2))).toBe(false);
});

test.each([
  { jobs: { busy: 20, other: 140 }, busy: true, why: 'twenty a second and an eighth of all' },
  { jobs: { busy: 19, other: 100 }, busy: false, why: 'fewer than twenty a second' },
  { jobs: { busy: 20, other: 141 }, busy: false, why: 'less than an eighth of all' },
])('a root with $why has a lane of its own: $busy', ({ jobs, busy }) => {
  const { lanes, clock } = someLanes();
  second(lanes, clock, jobs);
  lanes.noteJob('busy');
  expect(lanes.laneOf('busy') === 'root busy').toBe(busy);
});

test('a busy root stays alone down to half of what made it busy', () => {
  const { lanes, clock } = someLanes();
  second(lanes, clock, { busy: 30 });
  for (const count of [10, 10, 9]) second(lanes, clock, { busy: count });
  expect(lanes.laneOf('busy')).toBe('root busy');
  lanes.noteJob('busy');
  expect(lanes.laneOf('busy')).toMatch(/^quiet/);
});

test('a root that comes once after a minute of silence is not busy for what it did before', () => {
  const { lanes, clock } = someLanes();
  second(lanes, clock, { busy: 30 });
  clock.advance(60_000);
  lanes.noteJob('busy');
  expect(lanes.laneOf('busy')).toMatch(/^quiet/);
});

test('lanes whose roots fight for one counter are one lane, and nobody else’s is', () => {
  const { lanes } = someLanes();
  const [a = '', b = '', c = ''] = rootsApart(lanes, 3);
  lanes.noteContended('instance', [a]);
  expect(together(lanes, a, b)).toBe(false);
  lanes.noteContended('instance', [b]);
  expect(together(lanes, a, b)).toBe(true);
  expect(together(lanes, a, c)).toBe(false);
  lanes.noteContended('runner-class/large', [c]);
  expect(together(lanes, a, c)).toBe(false);
});

test('what three quiet lanes fight for is everybody’s: roots nobody has named yet go with them', () => {
  const { lanes } = someLanes();
  const [a = '', b = '', c = '', d = ''] = rootsApart(lanes, 4);
  lanes.noteContended('instance', [a, b]);
  expect(together(lanes, a, d)).toBe(false);
  lanes.noteContended('instance', [c]);
  expect(together(lanes, a, b, c, d)).toBe(true);
});

test('counters with a lane in common are fought for in one lane', () => {
  const { lanes } = someLanes();
  const [a = '', b = '', c = '', d = ''] = rootsApart(lanes, 4);
  lanes.noteContended('one', [a, b]);
  lanes.noteContended('two', [c, d]);
  expect(together(lanes, a, c)).toBe(false);
  lanes.noteContended('three', [b, c]);
  expect(together(lanes, a, b, c, d)).toBe(true);
});

test('lanes part ten seconds after the last fight, and twice as long after each time they begin again', () => {
  const { lanes, clock } = someLanes();
  const [a = '', b = ''] = rootsApart(lanes, 2);
  const joinedMs = (): number => {
    let ms = 0;
    for (; together(lanes, a, b); ms += 1_000) {
      clock.advance(1_000);
      lanes.noteJob(a);
    }
    return ms;
  };
  lanes.noteContended('instance', [a, b]);
  clock.advance(9_000);
  lanes.noteJob(a);
  lanes.noteContended('instance', [a]);
  expect(joinedMs()).toBe(10_000);
  for (const ms of [20_000, 40_000, 80_000, 160_000, 320_000, 320_000]) {
    lanes.noteContended('instance', [a, b]);
    expect(joinedMs()).toBe(ms);
  }
  clock.advance(599_000);
  lanes.noteJob(a);
  clock.advance(1_000);
  lanes.noteContended('instance', [a, b]);
  expect(joinedMs()).toBe(10_000);
});

test('each counter’s lanes part in their own time, whatever was fought for later', () => {
  const { lanes, clock } = someLanes();
  const [a = '', b = '', c = '', d = ''] = rootsApart(lanes, 4);
  lanes.noteContended('one', [a, b]);
  clock.advance(5_000);
  lanes.noteContended('two', [c, d]);
  clock.advance(5_000);
  lanes.noteJob(a);
  expect([together(lanes, a, b), together(lanes, c, d)]).toEqual([false, true]);
});

test('after a parting only those that fight again are joined', () => {
  const { lanes, clock } = someLanes();
  const [a = '', b = '', c = ''] = rootsApart(lanes, 3);
  lanes.noteContended('instance', [a]);
  lanes.noteContended('instance', [c]);
  clock.advance(10_000);
  lanes.noteJob(a);
  lanes.noteContended('instance', [a, b]);
  expect([together(lanes, a, b), together(lanes, a, c)]).toEqual([true, false]);
});

test('a root that becomes busy in a joined lane goes on in it', () => {
  const { lanes, clock } = someLanes();
  const [a = '', b = '', c = ''] = rootsApart(lanes, 3);
  lanes.noteContended('instance', [a, b]);
  second(lanes, clock, { [a]: 100, [c]: 100 });
  lanes.noteJob(a);
  expect(together(lanes, a, b)).toBe(true);
  expect(lanes.laneOf(c)).toBe(`root ${c}`);
});

test('the version changes with the lanes, and only with them', () => {
  const { lanes, clock } = someLanes();
  const [a = '', b = ''] = rootsApart(lanes, 2);
  const versions = [lanes.version];
  const after = (act: () => void): boolean => {
    act();
    versions.push(lanes.version);
    return versions.at(-1) !== versions.at(-2);
  };
  expect(after(() => lanes.noteContended('instance', [a, b]))).toBe(true);
  expect(after(() => lanes.noteContended('instance', [a, b]))).toBe(false);
  expect(after(() => second(lanes, clock, { [a]: 30 }))).toBe(false);
  expect(after(() => lanes.noteJob(a))).toBe(true);
  expect(after(() => clock.advance(20_000))).toBe(false);
  expect(after(() => lanes.noteJob(a))).toBe(true);
});

test('what is remembered is bounded: of very many counters the oldest are forgotten', () => {
  const { lanes } = someLanes();
  const [a = '', b = '', c = ''] = rootsApart(lanes, 3);
  lanes.noteContended('instance', [a, b]);
  for (const index of range(1, 255)) lanes.noteContended(`user/${index}`, [c]);
  expect(together(lanes, a, b)).toBe(true);
  lanes.noteContended('user/256', [c]);
  expect(together(lanes, a, b)).toBe(false);
});

test('of very many roots in a second the first ten thousand are counted', () => {
  const { lanes, clock } = someLanes();
  for (const root of range(1, 9_999)) lanes.noteJob(String(root));
  second(lanes, clock, { counted: 2_000, late: 2_000 });
  lanes.noteJob('1');
  expect(lanes.laneOf('counted')).toBe('root counted');
  expect(lanes.laneOf('late')).toMatch(/^quiet/);
});

test('at most 64 lanes are one for the sake of one counter', () => {
  const { lanes, clock } = someLanes();
  const fighting = (round: number): readonly string[] => range(1, 7).map((index) => `busy ${round} ${index}`);
  for (const round of range(1, 10)) {
    const roots = fighting(round);
    second(lanes, clock, Object.fromEntries(roots.map((root) => [root, 30])));
    lanes.noteJob('quiet');
    lanes.noteContended('instance', roots);
    expect(together(lanes, ...roots)).toBe(round <= 9);
  }
});
