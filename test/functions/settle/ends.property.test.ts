/** How long a job ran is GitLab's word: only what cannot be is cut off, and the last end counts in any order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide } from '../../../functions/core/admission/decide.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { chargeBypass } from '../../../functions/core/job-ends/charge-bypass.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { aRequest } from '../../scripts/cli/ledger-bench.ts';
import { flowRules } from '../../support/flow/flow.ts';
import { type Books, books, ranFor, STARTED_MS } from '../../support/ledger/gitlab-jobs.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const SIX_HOURS = 6 * 3_600;
const { timeoutSeconds: _hour, ...UNTIMED } = aRequest(1);

async function ran(house: Books, gitlabJob: GitLabJob) {
  let clamped = 0;
  const ledger = createLedger({
    store: house.store,
    clock: house.clock,
    onClampedDuration: () => {
      clamped += 1;
    },
  });
  await chargeBypass([gitlabJob], { ...house.deps, ledger });
  const record = await ledger.readRecord(1);
  return { charged: record?.durationSeconds, reported: record?.reportedSeconds, clamped };
}

const RULES = flowRules([{ on: { group: 100 }, money: 1_000, per: 'month' }]);

const admit = ({ ledger, clock }: Books, request: object) =>
  decide([request], clock.monotonicMs() + 60_000, {
    ledger,
    clock,
    currentRules: async () => RULES,
    log: silentLog,
  });

test('a job of six hours is charged for six hours where GitLab sent no timeout', async () => {
  const house = books();
  await admit(house, UNTIMED);
  expect(await ran(house, ranFor(1, SIX_HOURS))).toEqual({
    charged: SIX_HOURS,
    reported: undefined,
    clamped: 0,
  });
  // 0.10 a minute.
  expect(await house.charged(1)).toMatchObject({ micros: 360 * 100_000 });
});

test('beyond its timeout no job is charged; what GitLab said is kept, and counted', async () => {
  const house = books();
  await admit(house, aRequest(1));
  const clamped = { charged: 3_600 + 15 * 60, reported: SIX_HOURS, clamped: 1 };
  expect(await ran(house, ranFor(1, SIX_HOURS))).toEqual(clamped);
  // The same word again changes nothing, and is no second one.
  expect(await ran(house, ranFor(1, SIX_HOURS))).toEqual({ ...clamped, clamped: 0 });
  const shorter = ranFor(1, 600, { finishedAtMs: STARTED_MS + SIX_HOURS * 1_000 + 1 });
  expect(await ran(house, shorter)).toEqual({ charged: 600, reported: undefined, clamped: 0 });
});

const end = fc.record({
  seconds: fc.oneof(fc.constantFrom(0, 600, 600.5, 90_000, 100_000), fc.integer({ min: 1, max: 5_000 })),
  endedAfterMs: fc.constantFrom(0, 1, 1_000, 600_000),
});

test('of any ends in any order the last one is charged, and of two at once the longer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(end, { minLength: 2, maxLength: 5 }).chain((ends) =>
        fc.record({
          ends: fc.constant(ends),
          arrival: fc.shuffledSubarray(ends, { minLength: ends.length, maxLength: ends.length }),
          asked: fc.boolean(),
        }),
      ),
      async ({ ends, arrival, asked }) => {
        const charges = [];
        for (const order of [ends, arrival, [...arrival].reverse()]) {
          const house = books();
          if (asked) await admit(house, aRequest(1));
          for (const { seconds, endedAfterMs } of order) {
            const finishedAtMs = STARTED_MS + endedAfterMs;
            await chargeBypass([ranFor(1, seconds, { finishedAtMs })], house.deps);
          }
          const record = await house.ledger.readRecord(1);
          charges.push({
            charged: await house.charged(1),
            seconds: record?.durationSeconds,
            reported: record?.reportedSeconds,
            endedAtMs: record?.endedAtMs,
          });
          expect((await house.ledger.rebuild({ repair: false })).drift).toEqual([]);
        }
        expect(charges[1]).toEqual(charges[0]);
        expect(charges[2]).toEqual(charges[0]);
        const last = [...ends].sort((a, b) => b.endedAfterMs - a.endedAfterMs || b.seconds - a.seconds)[0];
        expect(charges[0]?.endedAtMs).toBe(STARTED_MS + (last?.endedAfterMs ?? 0));
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});
