import { decide } from '../../../functions/core/admission/index.ts';
import { silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, MemoryStore, type Write } from '../../../functions/core/ledger/index.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import { createLanes } from '../../../relay/commit/lanes.ts';
import type { LedgerVerdict } from '../../../relay/verdict.ts';
import { VirtualTime } from '../../local/clock/virtual-time.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { benchRequest, sharedRules } from './bench-rules.ts';
import { contendedStore } from './contended-store.ts';
import { countingStore } from './counting-store.ts';
import { modelledStream } from './modelled-stream.ts';

const INSTANCE = 'bench.example.com';
const RELAYS = 2;
const DEADLINE_MS = 2_000;
/** One way between relay and function. */
const CALL_MS = 3;
/** So large a share of the jobs is of one root; the others take theirs from all roots alike. */
const BUSY_SHARE = 0.2;
/** Short, so that as many jobs end as begin while it is measured; exponential. */
const JOB_MS_MEAN = 2_000;

interface SharedLoad {
  readonly seed: number;
  readonly roots: number;
  /** Arrivals a second, one rate after the other. */
  /** Jobs at once in the whole instance. @default more than ever come */
  readonly slots?: number;
  readonly phases: readonly { readonly perSecond: number; readonly forMs: number }[];
}

export interface LoadJob {
  readonly askedAtMs: number;
  readonly latencyMs: number;
  readonly outcome: LedgerVerdict['outcome'] | undefined;
  /** When the ledger rejected it, a slot under the shared limit had been free for so long; 0: there was none. */
  readonly slotFreeMs: number;
}

/**
 * Jobs of many roots under one limit of the whole instance, asked by two relays in an open loop: they come when they come,
 * however long others wait. Real group commit, real hold and real settlement; the table's contention, the time on the wire
 * and the function's processes are modelled.
 */
export async function sharedLoad({ seed, roots, slots, phases }: SharedLoad) {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(seed);
  let slotsTaken = 0;
  let slotsMost = 0;
  const slotFreeMs = new Map<number, number>();
  /** Since when each free slot is free; whoever comes takes the one that was free longest. */
  const freeSinceMs = Array.from({ length: slots ?? 0 }, () => clock.monotonicMs());
  const onCommit = (writes: readonly Write[]): void => {
    const nowMs = clock.monotonicMs();
    for (const write of writes) {
      if (slots === undefined || write.kind !== 'counter' || write.key.subject !== 'instance') continue;
      slotsTaken += write.committed;
      slotsMost = Math.max(slotsMost, slotsTaken);
      if (write.committed > 0) freeSinceMs.splice(0, write.committed);
      for (let ended = write.committed; ended < 0; ended += 1) freeSinceMs.push(nowMs);
    }
    for (const write of writes) {
      if (write.kind !== 'record' || write.record.state !== 'REJECTED') continue;
      slotFreeMs.set(write.record.jobId, nowMs - (freeSinceMs[0] ?? nowMs));
    }
  };
  const memory = new MemoryStore({ instance: INSTANCE, onCommit });
  const table = contendedStore(memory, clock, random);
  const store = countingStore(table, INSTANCE);
  const rules = sharedRules(roots, slots);
  const newLedger = () => createLedger({ store, clock, random });

  // Each process of the function has one call at a time; the one that was used last is used first.
  const idle: ReturnType<typeof newLedger>[] = [];
  const commits = Array.from({ length: RELAYS }, () => {
    const lanes = createLanes(clock);
    return createGroupCommit({
      clock,
      observe: () => {},
      lanes,
      defer: (run) => void clock.after(0, run),
      send: async (jobs, remainingMs) => {
        const deadlineMs = clock.monotonicMs() + remainingMs - 2 * CALL_MS;
        await clock.sleep(CALL_MS);
        const ledger = idle.pop() ?? newLedger();
        const rootOf = new Map(jobs.map(({ request, root }) => [request.jobId, root]));
        const onContended = (counter: string, jobIds: readonly number[]): void =>
          lanes.noteContended(
            counter,
            jobIds.map((jobId) => rootOf.get(jobId) ?? ''),
          );
        const deps = { ledger, currentRules: async () => rules, clock, log: silentLog, onContended };
        const decisions = await decide(
          jobs.map(({ request }) => request),
          deadlineMs,
          deps,
        );
        idle.push(ledger);
        await clock.sleep(CALL_MS);
        return decisions;
      },
    });
  });

  const ending = countingStore(table, INSTANCE);
  const stream = modelledStream({
    newLedger: () => createLedger({ store: ending, clock, random }),
    clock,
    random,
    jobsPerSecond: Math.max(...phases.map(({ perSecond }) => perSecond)),
  });

  const asked: Promise<LoadJob>[] = [];
  const ask = async (jobId: number): Promise<LoadJob> => {
    const askedAtMs = clock.monotonicMs();
    const root = random() < BUSY_SHARE ? 0 : Math.floor(random() * roots);
    const commit = commits[Math.floor(random() * RELAYS)];
    const verdict = await commit?.decide(benchRequest(jobId, root), askedAtMs + DEADLINE_MS);
    if (verdict?.outcome === 'admitted') {
      clock.after(exponential(JOB_MS_MEAN, random), () => {
        stream.push({ jobId, durationSeconds: 240, endedAtMs: clock.nowMs() });
      });
    }
    return {
      askedAtMs,
      latencyMs: clock.monotonicMs() - askedAtMs,
      outcome: verdict?.outcome,
      slotFreeMs: slotFreeMs.get(jobId) ?? 0,
    };
  };

  const arrive = async (): Promise<void> => {
    for (const { perSecond, forMs } of phases) {
      const untilMs = clock.monotonicMs() + forMs;
      for (;;) {
        await clock.sleep(exponential(1000 / perSecond, random));
        if (clock.monotonicMs() >= untilMs) break;
        asked.push(ask(asked.length + 1));
      }
    }
  };

  const jobs = await clock.run(arrive().then(() => Promise.all(asked)));
  stream.stop();
  return { jobs, counts: store.counts, ending: ending.counts, slotsMost };
}

const exponential = (mean: number, random: () => number): number => -mean * Math.log(1 - random());
