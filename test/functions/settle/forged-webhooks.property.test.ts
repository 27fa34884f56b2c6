import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../support/property-runs.ts';
import { aBody, instant, MINUTE_MS, webhookWorld } from './webhook-world.ts';

const ATTACKER = 1;
const VICTIM = 2;
const OWN = [1, 2, 3];
const OTHERS = [4, 5, 6];
const INVENTED = [901, 902, 903];
const NOVEMBER_21_MS = Date.UTC(2026, 10, 21, 12);

const anyInstant = fc.integer({ min: -90, max: 90 }).map((minutes) => NOVEMBER_21_MS + minutes * MINUTE_MS);
const forged = fc.record({
  jobId: fc.constantFrom(...OWN, ...OTHERS, ...INVENTED),
  project_id: fc.constantFrom(10, 20, 1001),
  build_status: fc.constantFrom('success', 'failed', 'canceled', 'skipped'),
  build_failure_reason: fc.constantFrom('job_router_failure', 'script_failure', null),
  started: fc.option(anyInstant),
  finished: fc.option(anyInstant),
  build_duration: fc.constantFrom(null, 0, 1, 3_600, 600_000, 1e12),
  projectPath: fc.constantFrom('acme/payments/checkout', 'victim/app', 'attacker/app'),
});

test('whatever the owner of one group lets GitLab sign, no other group is charged or freed, and nothing is disarmed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(forged, { minLength: 1, maxLength: 12 }), async (bodies) => {
      const world = webhookWorld();
      await world.sweep();
      await world.hold(ATTACKER, OWN);
      await world.hold(VICTIM, OTHERS);
      const counters = world.counters();
      for (const { jobId, started, finished, projectPath, ...fields } of bodies) {
        const status = await world.deliver(
          ATTACKER,
          aBody(jobId, world.clock.nowMs(), {
            ...fields,
            build_started_at: started === null ? null : instant(started),
            build_finished_at: finished === null ? null : instant(finished),
            project: { path_with_namespace: projectPath },
          }),
        );
        expect(status).toBe(200);
      }
      expect([await world.spent(VICTIM), await world.slots(VICTIM)]).toEqual([3 * 3_600, 3]);
      for (const jobId of OTHERS) expect(await world.state(jobId)).toBe('HELD');
      // Nobody else got a counter, and the watchdog reads of no job.
      expect(world.counters()).toEqual(counters);
      expect([...world.table.items()].filter((item) => item.pk?.S?.includes('@yet-failed'))).toEqual([]);

      // All of them ran for an hour. GitLab says so, and the sweep asks within an hour of their ends.
      world.gitlab.put(...OWN.map((jobId) => world.ran(jobId, 3_600)));
      world.gitlab.put(...OTHERS.map((jobId) => world.ran(jobId, 3_600, { projectId: 20 })));
      world.clock.advance(60 * MINUTE_MS);
      for (let minute = 0; minute < 3; minute += 1) {
        const { admittedYetFailed } = await world.sweep();
        expect(admittedYetFailed).toEqual([]);
        world.clock.advance(MINUTE_MS);
      }
      expect([await world.spent(ATTACKER), await world.slots(ATTACKER)]).toEqual([3 * 3_600, 0]);
      expect([await world.spent(VICTIM), await world.slots(VICTIM)]).toEqual([3 * 3_600, 0]);
      expect(await world.spent(100)).toBe(0);
      expect(world.counters()).toEqual(counters);
      expect((await world.ledger.rebuild({ repair: false })).drift).toEqual([]);
    }),
    { numRuns: propertyRuns(60) },
  );
});
