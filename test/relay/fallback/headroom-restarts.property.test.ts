import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LimitRoom } from '../../../functions/core/contract/admissions.ts';
import { Headroom, type KeptHeadrooms } from '../../../relay/fallback/headroom.ts';
import { HeadroomSnapshots } from '../../../relay/fallback/headroom-snapshot.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { aPolicy } from '../../policies/documents.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { range } from '../../support/relay/commit-bench.ts';

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
const newRoom = (relays: number): Headroom =>
  new Headroom({ clock, policy: aPolicy(), relays, isBookedSince: () => true, directory: () => undefined });

const aJob = (jobId: number) => ({
  ...{ jobId, projectId: 1_000, namespaceId: 100, rootNamespaceId: 100, timeoutSeconds: 3_600 },
});

const relaysInAnOutage = [
  fc.integer({ min: 1, max: 4 }),
  fc.integer({ min: 0, max: 30 }),
  fc.array(
    fc.record({ relay: fc.nat({ max: 3 }), does: fc.constantFrom('asks', 'asks', 'asks', 'writes', 'dies') }),
    { maxLength: 120 },
  ),
] as const;

test('however often relays die in an outage, they give what is left, and again only what the dead had not written down', () => {
  fc.assert(
    fc.property(...relaysInAnOutage, (relays, left, steps) => {
      const written: KeptHeadrooms[] = [];
      const started = () => {
        const room = newRoom(relays);
        new HeadroomSnapshots({
          ...{ left: [...written], write: async () => {}, clock, headroom: room, failed: () => {} },
        }).restore();
        return { room, place: written.push({ rooms: [], given: [] }) - 1, unwritten: 0 };
      };
      const now = range(1, relays).map(started);
      for (const { room, place } of now) {
        room.report({ headroom: [budgetWith(left)], admitted: [], sentAtMs: 0 });
        written[place] = room.keep();
      }
      let admitted = 0;
      let lost = 0;
      const refusedBy = new Set<number>();
      steps.forEach(({ relay, does }, jobId) => {
        const at = relay % relays;
        const one = now[at] ?? started();
        if (does === 'dies') {
          lost += one.unwritten;
          now[at] = started();
        } else if (does === 'writes') {
          written[one.place] = one.room.keep();
          one.unwritten = 0;
        } else if (one.room.take(aJob(jobId)) === undefined) {
          admitted += 1;
          one.unwritten += 1;
        } else refusedBy.add(at);
      });
      expect(admitted).toBeLessThanOrEqual(left + lost);
      // A relay that refused without a death before has given its whole share.
      if (!steps.some(({ does }) => does === 'dies')) {
        const share = Math.floor(left / relays);
        expect(admitted).toBeGreaterThanOrEqual(refusedBy.size * share);
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});
