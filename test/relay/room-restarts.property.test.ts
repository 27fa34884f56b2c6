import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import { HandedRooms } from '../../relay/handed-rooms.ts';
import { type KeptRooms, RelayRoom } from '../../relay/room.ts';
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

const clock = handClock();
const newRoom = (relays: number): RelayRoom =>
  new RelayRoom({ clock, policy: aPolicy(), relays, isSettled: () => true, directory: () => undefined });

const aJob = (jobId: number) => ({
  ...{ jobId, projectId: 1_000, namespaceId: 100, rootNamespaceId: 100, timeoutSeconds: 3_600 },
});

const relaysInAnOutage = [
  fc.integer({ min: 1, max: 4 }),
  fc.integer({ min: 0, max: 30 }),
  fc.array(fc.record({ relay: fc.nat({ max: 3 }), dies: fc.boolean() }), { maxLength: 120 }),
] as const;

test('however many relays there are, and however often they die in an outage and start again on their disks, they give what is left and no more', () => {
  fc.assert(
    fc.property(...relaysInAnOutage, (relays, left, steps) => {
      const rooms = range(1, relays).map(() => newRoom(relays));
      const admitted = rooms.map(() => 0);
      const refused = rooms.map(() => false);
      for (const room of rooms) room.tell({ rooms: [budgetWith(left)], admitted: [], askedAtMs: 0 });
      steps.forEach(({ relay, dies }, jobId) => {
        const at = relay % relays;
        const room = rooms[at] ?? newRoom(relays);
        if (dies) {
          const next = newRoom(relays);
          next.restore(room.keep('given'));
          rooms[at] = next;
          return;
        }
        if (room.take(aJob(jobId)) === undefined) admitted[at] = (admitted[at] ?? 0) + 1;
        else refused[at] = true;
      });
      expect(admitted.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(left);
      // Whoever refused has given its whole share.
      for (const [at, has] of refused.entries())
        if (has) expect(admitted[at]).toBe(Math.floor(left / relays));
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('relays that die with their disks give no more either: each begins with what the others have written down', () => {
  fc.assert(
    fc.property(...relaysInAnOutage, (relays, left, steps) => {
      const written: KeptRooms[] = [];
      const started = (): { readonly room: RelayRoom; readonly place: number } => {
        const room = newRoom(relays);
        new HandedRooms({
          left: [...written],
          write: async () => {},
          clock,
          room,
          failed: () => {},
        }).restore();
        return { room, place: written.push({ rooms: [], given: [] }) - 1 };
      };
      const now = range(1, relays).map(started);
      for (const { room } of now) room.tell({ rooms: [budgetWith(left)], admitted: [], askedAtMs: 0 });
      let admitted = 0;
      const refusedBy = new Set<number>();
      steps.forEach(({ relay, dies }, jobId) => {
        const at = relay % relays;
        const { room, place } = now[at] ?? started();
        if (dies) {
          written[place] = room.keep('given');
          now[at] = started();
          return;
        }
        if (room.take(aJob(jobId)) === undefined) admitted += 1;
        else refusedBy.add(at);
        written[place] = room.keep('given');
      });
      expect(admitted).toBeLessThanOrEqual(left);
      // Whom nobody followed has given its whole share.
      if (!steps.some(({ dies }) => dies)) {
        const share = Math.floor(left / relays);
        expect(admitted).toBeGreaterThanOrEqual(refusedBy.size * share);
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});
