/** At a month's end: a job's claims and its record are of one instant, so that statements and counters are of one month. */
import { expect, test } from 'vitest';
import { decide, recordUnmetered } from '../../../../functions/core/admission/decide.ts';
import { type LedgerClock, silentLog } from '../../../../functions/core/environment/environment.ts';
import { chargeBypass } from '../../../../functions/core/job-ends/charge-bypass.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { periodAt } from '../../../../policies/limits/period.ts';
import { aRequest } from '../../../scripts/cli/ledger-bench.ts';
import { flowRules } from '../../../support/flow/flow.ts';
import { INSTANCE, ranFor } from '../../../support/ledger/gitlab-jobs.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';

const DECEMBER_MS = Date.UTC(2026, 11, 1);
/** More than any of the writers here takes. */
const READINGS_MAX = 24;

const LIMITS = [
  { on: { group: 100 }, money: 1, per: 'month' },
  { on: { group: 101 }, money: 0.1, per: 'month', mode: 'shadow' },
  { on: { project: 1001 }, minutes: 1_000, per: 'day' },
];

/** Every reading is a second after the one before; the month ends between two of them. */
function secondsBeforeDecember(readings: number): LedgerClock {
  let nowMs = DECEMBER_MS - readings * 1_000 - 500;
  return {
    nowMs: () => {
      nowMs += 1_000;
      return nowMs;
    },
    monotonicMs: () => 0,
    sleep: async () => {},
  };
}

function houseAt(readings: number) {
  const clock = secondsBeforeDecember(readings);
  let conflicts = 0;
  const store = new MemoryStore({
    instance: INSTANCE,
    // The first try of each transaction loses a race.
    fault: (operation) => {
      conflicts += operation === 'transact' ? 1 : 0;
      return operation === 'transact' && conflicts % 2 === 1 ? { kind: 'conflict' } : undefined;
    },
  });
  const ledger = createLedger({ store, clock });
  const rules = flowRules(LIMITS);
  return { clock, store, ledger, deps: { ledger, currentRules: async () => rules, clock, log: silentLog } };
}

type House = ReturnType<typeof houseAt>;

const WRITERS: Readonly<Record<string, (house: House) => Promise<unknown>>> = {
  admitted: ({ deps }) => decide([aRequest(1)], 60_000, deps),
  // The second finds the money of the first gone, and the third too.
  rejected: ({ deps }) => decide([aRequest(1), aRequest(2), aRequest(3)], 60_000, deps),
  'told without the ledger': ({ deps }) =>
    recordUnmetered(
      [{ request: aRequest(1), answered: 'admitted', cause: 'deadline', answeredAtMs: DECEMBER_MS - 5_000 }],
      deps,
    ),
  'told without the ledger by a clock that is ahead': ({ deps }) =>
    recordUnmetered(
      [{ request: aRequest(1), answered: 'admitted', cause: 'deadline', answeredAtMs: DECEMBER_MS + 9_000 }],
      deps,
    ),
  'never asked about': ({ deps }) =>
    chargeBypass(
      [
        ranFor(1, 60, {
          startedAtMs: DECEMBER_MS - 120_000,
          finishedAtMs: DECEMBER_MS - 20_000,
          durationSeconds: 60,
        }),
      ],
      deps,
    ),
  'never asked about, by a start and a duration that differ': ({ deps }) =>
    chargeBypass(
      [ranFor(1, 60, { startedAtMs: DECEMBER_MS - 1, finishedAtMs: DECEMBER_MS + 120_000 })],
      deps,
    ),
  'never asked about, heard of very late': ({ deps }) =>
    chargeBypass([ranFor(1, 60, { startedAtMs: DECEMBER_MS - 40 * 86_400_000, durationSeconds: 60 })], deps),
};

test.each(Object.entries(WRITERS))(
  '%s: each claim is of the period in which the record was decided',
  async (_, write) => {
    for (let readings = 0; readings < READINGS_MAX; readings += 1) {
      const house = houseAt(readings);
      await write(house);
      const records = [...house.store.dump()].flatMap((item) =>
        item.kind === 'record' ? [item.record] : [],
      );
      expect(records).not.toHaveLength(0);
      for (const { claims, decidedAtMs } of records) {
        const month = periodAt('month', 'UTC', decidedAtMs).key;
        const day = periodAt('day', 'UTC', decidedAtMs).key;
        const periods = claims.map(({ counter }) => counter.period);
        expect({ readings, periods }).toEqual({ readings, periods: [month, month, day] });
      }
    }
  },
);
