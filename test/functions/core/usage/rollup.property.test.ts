/**
 * A real ledger under any operations, its record images delivered in any cut and order, repeated, to several readers at
 * once, over a rollup table that conflicts and loses answers. What usage shows then is what the records and their claims
 * say, counted here in the plainest way.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { HoldRequest, JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { rebuildUsage } from '../../../../functions/core/usage/count-records.ts';
import { sumCoverage } from '../../../../functions/core/usage/sums.ts';
import { usageOf } from '../../../../functions/core/usage/usage.ts';
import { anAsk, blocked, claim, someFacts } from '../../../support/ledger/asks.ts';
import type { RollupFault } from '../../../support/ledger/memory-rollup-store.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { Feed, INSTANCE, rollupBench, type StreamRecord } from '../../../support/ledger/rollup-bench.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const JOBS = 6;
const job = fc.integer({ min: 1, max: JOBS });
const jobs = fc.array(job, { minLength: 1, maxLength: 4 });

const some = <Kind extends string, Fields extends object>(
  weight: number,
  kinds: readonly Kind[],
  fields: { readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constantFrom(...kinds), ...fields }) as unknown as fc.Arbitrary<
    { readonly kind: Kind } & Fields
  >,
});
const op = fc.oneof(
  some(4, ['hold'], { jobs }),
  some(3, ['settle', 'settle', 'bypass'], { jobs, seconds: fc.integer({ min: 0, max: 200 }) }),
  some(3, ['release', 'expireHold', 'expireNothing', 'toldAdmitted', 'toldRejected'], { jobs }),
  some(1, ['advance'], { ms: fc.constantFrom(61_000, 86_400_000) }),
  some(1, ['limit'], { bound: fc.constantFrom(0, 50, 200) }),
);
type Op = typeof op extends fc.Arbitrary<infer Value> ? Value : never;

/** A third of the jobs ran on a runner that nobody named. */
const runnerOf = (jobId: number): number | undefined => [undefined, 41, 42][jobId % 3];

/** Jobs of three groups, one of which the directory does not know. */
const ask = (jobId: number, bound: number): HoldRequest => {
  const seconds = jobId * 20;
  const group = [100, 104, 999][jobId % 3] ?? 100;
  const runnerId = runnerOf(jobId);
  return anAsk(jobId, bound === 0 ? [claim('group/100', seconds)] : [claim('group/100', seconds, bound)], {
    facts: someFacts({
      jobName: 'unit',
      projectId: 1000 + (jobId % 2),
      groupId: group,
      rootId: 100,
      estimateSeconds: seconds,
      costMicros: seconds,
      microsPerMinute: 60,
      timeoutSeconds: 100,
      ...(runnerId !== undefined && { asked: { runnerId } }),
    }),
    ...(bound === 0 && { violations: [blocked] }),
    ...(jobId === JOBS && { unchecked: 'exempt' as const }),
  });
};

/** One by one, from what the ledger charged on its counters. */
function counted(records: Iterable<JobRecord>): Map<string, Record<string, number>> {
  const usage = new Map<string, Record<string, number>>();
  for (const record of records) {
    const { facts, state, claims, durationSeconds, unchecked, flagged, decidedAtMs, violations } = record;
    // Rejected, and it ran: still a rejection, and no job that nobody was asked about.
    const ran = flagged && unchecked === 'bypass';
    const rejected = state === 'REJECTED' || ran;
    const groups = { 100: [100], 104: [100, 101, 104], 999: [100, 999] }[facts.groupId ?? 0] ?? [];
    const subjects = ['instance', ...groups.map((id) => `group/${id}`), `project/${facts.projectId}`];
    const live = state === 'HELD' || state === 'RUNNING';
    const charged = claims.reduce((sum, one) => sum + one.counted + one.corrected, 0);
    for (const subject of [...subjects, 'runner-class/small']) {
      const name = `${subject}|${new Date(decidedAtMs).toISOString().slice(0, 10)}`;
      const line = usage.get(name) ?? {};
      usage.set(name, line);
      const add = (field: string, count: number): void => {
        line[field] = (line[field] ?? 0) + count;
      };
      add('jobs', 1);
      add(rejected ? 'rejected' : 'admitted', 1);
      add('ranRejected', ran ? 1 : 0);
      add('seconds', state === 'SETTLED' ? (durationSeconds ?? 0) : 0);
      add('heldMicros', live ? charged : 0);
      add('settledMicros', live ? 0 : charged);
      const rules = new Set(violations.map(({ rule }) => rule)).size;
      add('byRule', rejected ? rules : 0);
      add('ranByRule', ran ? rules : 0);
      for (const cause of ['exempt', 'unmetered', 'bypass']) add(cause, cause === unchecked && !ran ? 1 : 0);
    }
  }
  return usage;
}

/** What ran, and what of it nobody asked about, from the records alone; runners only where groups are told. */
function covered(records: Iterable<JobRecord>): Map<string, Record<string, number>> {
  const coverage = new Map<string, Record<string, number>>();
  for (const record of records) {
    const { jobId, facts, state, unchecked, flagged, violations, decidedAtMs } = record;
    const groups = { 100: [100], 104: [100, 101, 104], 999: [100, 999] }[facts.groupId ?? 0] ?? [];
    const unasked = unchecked === 'bypass' && !flagged && violations.length === 0;
    const subjects = ['instance', ...groups.map((id) => `group/${id}`), `project/${facts.projectId}`];
    for (const subject of [...subjects, 'runner-class/small']) {
      const name = `${subject}|${new Date(decidedAtMs).toISOString().slice(0, 10)}`;
      const line = coverage.get(name) ?? { ran: 0, unasked: 0 };
      coverage.set(name, line);
      if (state !== 'SETTLED') continue;
      const add = (field: string, jobs: number): void => {
        line[field] = (line[field] ?? 0) + jobs;
      };
      add('ran', 1);
      add('unasked', unasked ? 1 : 0);
      if (!subject.startsWith('group/')) continue;
      const runner = runnerOf(jobId) ?? 'unknown';
      add(`${runner} ran`, 1);
      add(`${runner} unasked`, unasked ? 1 : 0);
    }
  }
  return coverage;
}

const fault = fc.constantFrom<(RollupFault | undefined)[]>(
  undefined,
  undefined,
  'contended',
  'lost-before',
  'lost-after',
);

/** Who gets which images when: any order, with repeats, two readers at once. */
function deliveries(records: readonly StreamRecord[], picks: readonly number[]): StreamRecord[][] {
  const batches: StreamRecord[][] = [[]];
  const left = [...records];
  for (const pick of picks) {
    const from = pick % 3 === 0 ? records : left;
    const record = from[pick % Math.max(1, from.length)];
    if (record === undefined) continue;
    batches.at(-1)?.push(record);
    if (from === left) left.splice(left.indexOf(record), 1);
    if (pick % 4 === 0) batches.push([]);
  }
  return [...batches, left];
}

const DELIVERIES_MAX = 50;

test('any delivery of any history of records gives the usage that counting the records gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(op, { minLength: 1, maxLength: 20 }),
      fc.array(fc.nat(1000), { maxLength: 60 }),
      fc.array(fault, { maxLength: 20 }),
      fc.boolean(),
      async (ops, picks, faults, losesSome) => {
        const clock = manualClock();
        const feed = new Feed();
        const table = new MemoryStore({ instance: INSTANCE, clock, onCommit: feed.onCommit });
        const ledger = createLedger({ store: table, clock, random: () => 0 });
        let bound = 200;
        for (const one of ops) {
          if (one.kind === 'advance') clock.advance(one.ms);
          else if (one.kind === 'limit') bound = one.bound;
          else await run(one);
        }
        async function run(one: Exclude<Op, { kind: 'advance' | 'limit' }>): Promise<void> {
          const gone = one.jobs.map((jobId) => ({ jobId, cause: 'gone' }));
          switch (one.kind) {
            case 'hold':
              await ledger.hold(
                one.jobs.map((id) => ask(id, bound)),
                clock.monotonicMs() + 9_000,
              );
              return;
            case 'settle': {
              const end = { durationSeconds: one.seconds, endedAtMs: clock.nowMs() };
              await ledger.settle(one.jobs.map((jobId) => ({ jobId, ...end })));
              return;
            }
            case 'bypass': {
              const end = { durationSeconds: one.seconds, endedAtMs: clock.nowMs() };
              const asks = one.jobs.map((id) => ({ ...ask(id, bound), ...end, violations: [] }));
              await ledger.recordBypass(asks.map((each) => ({ ...each, unchecked: 'bypass' as const })));
              return;
            }
            case 'release':
              await ledger.release(gone);
              return;
            case 'expireHold':
            case 'expireNothing': {
              const charge = one.kind === 'expireHold' ? 'hold' : 'nothing';
              await ledger.expire(gone.map((each) => ({ ...each, charge })));
              return;
            }
            case 'toldAdmitted':
            case 'toldRejected': {
              const answered = one.kind === 'toldAdmitted' ? 'admitted' : 'rejected';
              const answer = { answered, cause: 'deadline', answeredAtMs: clock.nowMs() } as const;
              const asks = one.jobs.map((id) => ({ ...ask(id, bound), ...answer }));
              await ledger.recordUnmetered(asks, clock.monotonicMs() + 9_000);
            }
          }
        }

        const left = [...faults];
        const { store, deps, deliver } = rollupBench({ fault: () => left.shift() });
        const batches = deliveries(feed.records, picks);
        if (losesSome) batches.pop();
        for (let index = 0; index < batches.length; index += 2) {
          await Promise.all(batches.slice(index, index + 2).map(untilTaken));
        }
        async function untilTaken(batch: readonly StreamRecord[]): Promise<void> {
          let again = [...batch];
          for (let time = 0; again.length > 0; time += 1) {
            if (time > DELIVERIES_MAX) throw new Error(`never taken: ${again.length} images`);
            const { batchItemFailures } = await deliver(again);
            const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
            const from = again.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber));
            again = from < 0 ? [] : again.slice(from);
          }
        }
        for (let failed = losesSome ? 1 : 0; failed > 0; )
          failed = (await rebuildUsage(table.scan(), deps)).failed;

        const records = [...table.dump()].flatMap((item) => (item.kind === 'record' ? [item.record] : []));
        const shown = [...store.usage()].map(([name, tally]) => {
          const usage = usageOf(tally);
          const { jobs, admitted, rejected, ranRejected } = usage;
          const { seconds, heldMicros, settledMicros, exempt, unmetered, bypass } = usage;
          const sumOf = (counts: ReadonlyMap<string, number>): number =>
            [...counts.values()].reduce((sum, count) => sum + count, 0);
          const byRule = sumOf(usage.rejectedBy);
          const ranByRule = sumOf(usage.ranRejectedBy);
          const line = {
            jobs,
            admitted,
            rejected,
            ranRejected,
            seconds,
            heldMicros,
            settledMicros,
            exempt,
            unmetered,
            bypass,
          };
          return [name, { ...line, byRule, ranByRule }] as const;
        });
        const zeros = { admitted: 0, rejected: 0 };
        expect(new Map(shown)).toEqual(
          new Map([...counted(records)].map(([name, line]) => [name, { ...zeros, ...line }])),
        );
        const told = [...store.usage()].map(([name, tally]) => {
          const { ran, unasked, runners } = sumCoverage([{ day: name.slice(-10), tally }]);
          const byRunner = [...runners].flatMap(([runner, each]) => [
            [`${runner} ran`, each.ran],
            [`${runner} unasked`, each.unasked],
          ]);
          return [name, { ran, unasked, ...Object.fromEntries(byRunner) }] as const;
        });
        expect(new Map(told)).toEqual(covered(records));
      },
    ),
    { numRuns: 500 },
  );
});
