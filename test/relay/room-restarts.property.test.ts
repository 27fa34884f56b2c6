import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import { RelayRoom } from '../../relay/room.ts';
import { handClock } from '../../scripts/local/clock/hand-clock.ts';
import { aPolicy } from '../policies/documents.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { range } from '../support/relay/commit-bench.ts';

const JOB_MICROS = 1_000_000;
const LIMIT_MICROS = 100 * JOB_MICROS;

/** A job costs one. */
const budgetWith = (left: number): LimitRoom => ({
  policy: 'room',
  refusal: {
    ...{ rule: 'budgets', class: 'cost', mode: 'enforce' },
    reason: {
      ...{ code: 'BUDGET_EXHAUSTED', subject: 'group/100', subjectLabel: 'acme', limit: 'money-month' },
      ...{ unit: 'micros', limitAmount: LIMIT_MICROS, committed: LIMIT_MICROS - left * JOB_MICROS },
      ...{ settled: 0, asked: JOB_MICROS, zone: 'UTC' },
    },
  },
});

test('however many relays there are, and however often they die in an outage and start again on their disks, they give what is left and no more', () => {
  const clock = handClock();
  const newRoom = (relays: number): RelayRoom =>
    new RelayRoom({ clock, policy: aPolicy(), relays, isSettled: () => true, directory: () => undefined });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 30 }),
      fc.array(fc.record({ relay: fc.nat({ max: 3 }), dies: fc.boolean() }), { maxLength: 120 }),
      (relays, left, steps) => {
        const rooms = range(1, relays).map(() => newRoom(relays));
        const admitted = rooms.map(() => 0);
        const refused = rooms.map(() => false);
        for (const room of rooms) room.tell({ rooms: [budgetWith(left)], admitted: [], askedAtMs: 0 });
        steps.forEach(({ relay, dies }, jobId) => {
          const at = relay % relays;
          const room = rooms[at] ?? newRoom(relays);
          if (dies) {
            const next = newRoom(relays);
            next.restore(room.keep());
            rooms[at] = next;
            return;
          }
          const job = {
            jobId,
            projectId: 1_000,
            namespaceId: 100,
            rootNamespaceId: 100,
            timeoutSeconds: 3_600,
          };
          if (room.take(job) === undefined) admitted[at] = (admitted[at] ?? 0) + 1;
          else refused[at] = true;
        });
        expect(admitted.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(left);
        // Whoever refused has given its whole share.
        for (const [at, has] of refused.entries())
          if (has) expect(admitted[at]).toBe(Math.floor(left / relays));
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});
