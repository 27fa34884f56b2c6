/** Room that is kept for a retried job, on every table. Called by the ledger's contract. */
import { expect, test } from 'vitest';
import type {
  HoldOutcome,
  HoldRequest,
  Ledger,
  ReserveOutcome,
} from '../../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import type { LimitClaim } from '../../../../policies/claim.ts';
import { anAsk, blocked, claim, counter, someFacts, wordOf } from '../../../support/ledger/asks.ts';
import type { TestClock } from '../../../support/ledger/test-clock.ts';

interface ReservationHouse {
  readonly store: LedgerStore;
  readonly ledger: Ledger;
  readonly other: Ledger;
  readonly clock: TestClock;
  hold(asks: readonly HoldRequest[], by?: Ledger): Promise<readonly HoldOutcome[]>;
}

const SLOTS = counter('group/1', 'jobs-now', 'now');
const MONEY = counter('group/1');
const MINUTES_MS = 60_000;

const slot = claim('group/1', 1, 1, { counter: SLOTS, unit: 'jobs', rule: 'slots', class: 'capacity' });
const money = (bound: number): LimitClaim => claim('group/1', 10, bound);

/** Jobs of one name are the same job of the pipeline, retried. */
const asking = (
  jobId: number,
  over: Partial<HoldRequest> = {},
  facts: { readonly jobName?: string; readonly pipelineId?: number } = {},
): HoldRequest =>
  anAsk(jobId, [slot, money(1_000)], {
    facts: someFacts({ projectId: 7, pipelineId: 70, jobName: `build ${jobId}`, ...facts }),
    ...over,
  });
const retried = (jobId: number, over: Partial<HoldRequest> = {}): HoldRequest =>
  asking(jobId, over, { jobName: 'build 2' });

export function reservationContract(build: () => ReservationHouse): void {
  /** Job 1 took the only slot and ended; job 2 was rejected for it. */
  const full = async () => {
    const house = build();
    const { ledger, store, clock, hold } = house;
    const ask = async (asked: HoldRequest, by: Ledger = ledger): Promise<string> =>
      wordOf((await hold([asked], by))[0]);
    expect([await ask(asking(1)), await ask(asking(2))]).toEqual(['admitted', 'rejected']);
    await ledger.settle([{ jobId: 1, durationSeconds: 0, endedAtMs: clock.nowMs() }]);
    const reserve = (jobId = 2, untilMs = clock.nowMs() + 3 * MINUTES_MS): Promise<ReserveOutcome> =>
      ledger.reserve({ jobId, claims: [slot], untilMs });
    const taken = async () => (await ledger.readCounters([SLOTS]))[0];
    const agrees = async (): Promise<void> => {
      expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
      expect((await taken())?.reserved).toBeUndefined();
    };
    const state = async (jobId: number) => (await ledger.readRecord(jobId))?.state;
    return { ...house, ask, reserve, taken, agrees, state, store };
  };

  test('a slot that is kept is nobody else’s, and the retried job’s', async () => {
    const { ask, reserve, ledger, other, taken, agrees, state } = await full();
    expect(await reserve()).toBe('reserved');
    expect(await taken()).toMatchObject({ committed: 1, reserved: [{ jobId: 2, pipelineId: 70 }] });
    expect(await ask(asking(10), other)).toBe('rejected');
    expect(await ledger.handOver(2, 3)).toBe('applied');
    expect([await state(2), await state(3)]).toEqual(['REJECTED', 'RESERVED']);
    expect(await ledger.readRecord(3)).toMatchObject({ rev: 1, generation: 0, flagged: false, entries: 0 });
    expect(await ask(asking(11), other)).toBe('rejected');
    expect(await ask(retried(3), other)).toBe('admitted');
    expect(await taken()).toMatchObject({ committed: 1 });
    expect(await ledger.readRecord(3)).toMatchObject({ state: 'HELD', generation: 1 });
    await agrees();
  });

  test('the retried job may be asked about before anybody knows it by its number', async () => {
    const { ask, reserve, ledger, other, taken, agrees, state } = await full();
    await reserve();
    // Another job of the same pipeline is not meant.
    expect(await ask(asking(9), other)).toBe('rejected');
    expect(await ask(retried(3), other)).toBe('admitted');
    expect(await taken()).toMatchObject({ committed: 1 });
    expect(await ledger.handOver(2, 3)).toBe('unchanged');
    expect([await state(2), await state(3)]).toEqual(['REJECTED', 'HELD']);
    await agrees();
  });

  test.each(['build 2 integration', 'build 20', 'build'])(
    'room that is kept for job build 2 is not taken by %s of the same pipeline',
    async (jobName) => {
      const { ask, reserve, ledger, other, taken } = await full();
      await reserve();
      expect(await ask(asking(9, {}, { jobName }), other)).toBe('rejected');
      expect(await ledger.readRecord(2)).toMatchObject({ claims: [{ counted: 1 }, { counted: 0 }] });
      expect(await ask(retried(3), other)).toBe('admitted');
      expect(await taken()).toMatchObject({ committed: 1 });
    },
  );

  test('a rejection for anything else gives the slot to the next job, in the same batch already', async () => {
    const { reserve, ledger, hold, taken, agrees, state } = await full();
    await reserve();
    await ledger.handOver(2, 3);
    const frozen = retried(3, { violations: [blocked] });
    expect((await hold([frozen, asking(10)])).map(wordOf)).toEqual(['rejected', 'admitted']);
    expect(await state(3)).toBe('REJECTED');
    expect(await taken()).toMatchObject({ committed: 1 });
    await agrees();
  });

  test('money is never kept, and is asked for like any other job’s', async () => {
    const { ask, ledger, clock, agrees } = await full();
    const claims = [money(1_000), slot];
    await ledger.reserve({ jobId: 2, claims, untilMs: clock.nowMs() + MINUTES_MS });
    expect(await ledger.readCounters([MONEY, SLOTS])).toMatchObject([{ committed: 0 }, { committed: 1 }]);
    await ledger.handOver(2, 3);
    expect(await ask(retried(3, { claims: [slot, money(5)] }))).toBe('rejected');
    expect(await ledger.readCounters([MONEY, SLOTS])).toMatchObject([{ committed: 0 }, { committed: 0 }]);
    await agrees();
    expect(
      await ledger.reserve({ jobId: 3, claims: claims.slice(0, 1), untilMs: clock.nowMs() + MINUTES_MS }),
    ).toBe('unchanged');
  });

  test('nobody asks: it is due, is given back, and the job is asked about like any other afterwards', async () => {
    const { ask, reserve, ledger, clock, taken, agrees, state } = await full();
    await reserve();
    await ledger.handOver(2, 3);
    clock.advance(3 * MINUTES_MS);
    expect((await ledger.dueJobs(clock.nowMs() + 1, 10)).map(({ jobId }) => jobId)).toEqual([3]);
    expect(await ledger.endReservations([3], clock.nowMs())).toEqual(['applied']);
    expect(await ledger.dueJobs(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    expect(await state(3)).toBe('RELEASED');
    expect(await taken()).toMatchObject({ committed: 0 });
    expect(await ask(retried(3))).toBe('admitted');
    expect(await ledger.readRecord(3)).toMatchObject({ state: 'HELD', generation: 1 });
    await agrees();
  });

  test.each(['while the slot is kept', 'after that'])(
    'a job that ran past us %s is charged once, and gives its slot back',
    async (when) => {
      const { reserve, ledger, clock, agrees } = await full();
      await reserve();
      await ledger.handOver(2, 3);
      if (when === 'after that') await ledger.endReservations([3]);
      const end = { jobId: 3, durationSeconds: 60, endedAtMs: clock.nowMs() };
      expect(await ledger.settle([end])).toEqual(['applied']);
      expect(await ledger.readRecord(3)).toMatchObject({
        ...{ state: 'SETTLED', generation: 1, unchecked: 'bypass', flagged: false },
      });
      expect(await ledger.readCounters([MONEY, SLOTS])).toMatchObject([
        { committed: 60, unchecked: { bypass: 60 } },
        { committed: 0, unchecked: { bypass: 0 } },
      ]);
      await agrees();
    },
  );

  test('a retried job that may wait does not give its slot away meanwhile, and nobody waits before it', async () => {
    const { reserve, ledger, hold, taken, agrees, state } = await full();
    await reserve();
    await ledger.handOver(2, 3);
    const behind = new Set(['group/1|jobs-now|now']);
    const waits = { waitedMs: 0, last: false, behind };
    const cpu = claim('group/1', 4, 3, {
      ...{ counter: counter('group/1', 'cpu', 'now'), unit: 'millicpu' as const, waitMs: 20_000 },
    });
    const patient = { ...slot, waitMs: 20_000 };
    const larger = retried(3, { claims: [patient, cpu], wait: waits });
    const [first, rival] = await hold([larger, asking(10)]);
    expect([wordOf(first), wordOf(rival)]).toEqual(['waiting', 'rejected']);
    expect(await state(3)).toBe('RESERVED');
    expect(await taken()).toMatchObject({ committed: 1 });
    expect((await hold([retried(3, { claims: [patient], wait: waits })])).map(wordOf)).toEqual(['admitted']);
    await agrees();
  });
}
