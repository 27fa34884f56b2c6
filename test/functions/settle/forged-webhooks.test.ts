import { expect, test } from 'vitest';
import { aBody, instant, MINUTE_MS, webhookWorld } from './webhook-world.ts';

const GROUP = 1;

test('a job that is reported at 1 s and ran for 3600 s is charged 3600 s within the hour', async () => {
  const world = webhookWorld();
  await world.sweep();
  await world.hold(GROUP, [1]);
  world.clock.advance(60 * MINUTE_MS);
  await world.deliver(GROUP, aBody(1, world.clock.nowMs()));
  expect(await world.spent(GROUP)).toBe(1);
  const endedAtMs = world.clock.nowMs();
  world.gitlab.put(world.ran(1, 3_600, { startedAtMs: endedAtMs - 60 * MINUTE_MS, finishedAtMs: endedAtMs }));
  for (let minute = 0; minute < 60; minute += 1) {
    world.clock.advance(MINUTE_MS);
    await world.sweep();
  }
  expect(await world.spent(GROUP)).toBe(3_600);
  // The same report again changes nothing: REST has answered.
  await world.deliver(GROUP, aBody(1, world.clock.nowMs()));
  expect(await world.spent(GROUP)).toBe(3_600);
});

test('a job that is reported as ended while it runs is charged at its real end', async () => {
  const world = webhookWorld();
  await world.sweep();
  await world.hold(GROUP, [1]);
  const startedAtMs = world.clock.nowMs();
  world.gitlab.put(world.ran(1, 0, { status: 'running', startedAtMs }));
  // Seen while it is held, so that the search for bypass would not look at it again.
  world.clock.advance(6 * MINUTE_MS);
  await world.sweep();
  await world.deliver(GROUP, aBody(1, world.clock.nowMs()));
  expect(await world.slots(GROUP)).toBe(0);
  for (let minute = 0; minute < 60; minute += 1) {
    world.clock.advance(MINUTE_MS);
    await world.sweep();
  }
  expect(await world.spent(GROUP)).toBe(1);
  world.gitlab.put(world.ran(1, 3_960, { startedAtMs, finishedAtMs: world.clock.nowMs() }));
  world.clock.advance(MINUTE_MS);
  await world.sweep();
  expect(await world.spent(GROUP)).toBe(3_960);
});

test('reported jobs without a record are charged on the word of REST alone, also those that no list shows in time', async () => {
  const world = webhookWorld();
  await world.sweep();
  const nowMs = world.clock.nowMs();
  const project = { path_with_namespace: 'acme/payments/checkout' };
  for (const jobId of [901, 902])
    await world.deliver(100, aBody(jobId, nowMs, { project_id: 1001, project, build_duration: 600_000 }));
  expect([await world.state(901), await world.state(902)]).toEqual([undefined, undefined]);
  // One of them is real, and ran for a minute.
  world.gitlab.put(
    world.ran(902, 60, { projectId: 1001, projectPath: 'acme/payments/checkout', startedAtMs: nowMs }),
  );
  world.clock.advance(60 * MINUTE_MS);
  await world.sweep();
  expect(await world.state(901)).toBeUndefined();
  expect(await world.ledger.readRecord(902)).toMatchObject({ unchecked: 'bypass', durationSeconds: 60 });
});

test.each([
  ['in the future', { build_finished_at: instant(Date.UTC(2026, 10, 22)) }],
  ['before the admission', { build_started_at: instant(Date.UTC(2026, 9, 1)) }],
  ['longer than since the admission', { build_duration: 86_400 }],
])('an end %s changes nothing and is counted', async (_, over) => {
  const world = webhookWorld();
  await world.hold(GROUP, [1]);
  world.clock.advance(10 * MINUTE_MS);
  expect(await world.deliver(GROUP, aBody(1, world.clock.nowMs(), over))).toBe(200);
  expect(await world.state(1)).toBe('HELD');
  expect(world.lines.at(-1)).toBe(
    '{"message":"webhooks reported what cannot be","groups":["1"],"jobs":["1"]}',
  );
});
