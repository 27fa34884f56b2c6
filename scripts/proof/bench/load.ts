/**
 * Modelled load: the real group commit, decision and ledger on a contended table in virtual time, against one transaction
 * per job.
 */
import { decide } from '../../../functions/core/admission/decide.ts';
import type { DecideDeps, Rules } from '../../../functions/core/admission/judge.ts';
import { type LedgerClock, silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import type { JobEnd } from '../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import { createLanes } from '../../../relay/commit/lanes.ts';
import type { RelayClock } from '../../../relay/exchange.ts';
import { VirtualTime } from '../../local/clock.ts';
import { quantile, seededRandom } from '../../local/random.ts';
import { benchRequest, benchRules } from './bench-rules.ts';
import { contendedStore } from './contention-model.ts';
import { countingStore } from './counting-store.ts';

export type Admit = (request: AdmissionRequest) => Promise<boolean>;

export const INSTANCE = 'bench.example.com';
/** Longer than the product's: one transaction per job needs its retries to do its best. */
const PATIENT_MS = 5_000;

export const memoryStore = (clock: LedgerClock, random: () => number): DynamoStore =>
  new DynamoStore({ table: new MemoryTable(), instance: INSTANCE, clock, random });

export function deployment(roots: number, itemMs?: number, isShared?: boolean, deadlineMs?: number) {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(1);
  const contended = contendedStore(memoryStore(clock, random), clock, random, itemMs);
  const store = countingStore(contended, INSTANCE);
  const rules = benchRules(roots, [], isShared);
  const calls: number[] = [];
  const openRelays = relayOpener({ store, clock, random, rules, deadlineMs, calls });
  return { clock, random, store, calls, openRelays };
}

/** @returns a function that opens the relays, or "naive": one transaction per job without a relay. */
export function relayOpener(options: {
  readonly store: LedgerStore;
  readonly clock: LedgerClock & RelayClock;
  readonly random: () => number;
  readonly rules: Rules;
  readonly deadlineMs?: number | undefined;
  readonly defer?: (run: () => void) => void;
  /** Gets the jobs of each call. */
  readonly calls?: number[];
}) {
  const { store, clock, random, rules, deadlineMs = PATIENT_MS } = options;
  const { defer = (run) => void clock.after(0, run) } = options;
  const newFunction = () => {
    const ledger = createLedger({ store, clock, random });
    const deps = { ledger, clock, log: silentLog, currentRules: async () => rules };
    return (requests: readonly AdmissionRequest[], withinMs: number, more: Partial<DecideDeps> = {}) =>
      decide(requests, clock.monotonicMs() + withinMs, { ...deps, ...more });
  };
  const newRelay = () => {
    const decideAll = newFunction();
    const lanes = createLanes(clock);
    return createGroupCommit({
      ...{ clock, lanes, defer, observe: () => {} },
      send(jobs, remainingMs) {
        const rootOf = new Map(jobs.map(({ request, root }) => [request.jobId, root]));
        const requests = jobs.map(({ request }) => request);
        const rootsOf = (jobIds: readonly number[]) => jobIds.map((jobId) => rootOf.get(jobId) ?? '');
        options.calls?.push(jobs.length);
        return decideAll(requests, remainingMs, {
          onContended: (counter, jobIds) => lanes.noteContended(counter, rootsOf(jobIds)),
          onPacked: (transactions) => lanes.notePacked([...rootOf.values()], transactions),
        });
      },
    });
  };
  return (relays: number | 'naive'): Admit => {
    if (relays === 'naive') {
      const decideAll = newFunction();
      return async (request) => (await decideAll([request], deadlineMs))[0]?.outcome === 'admitted';
    }
    const commits = Array.from({ length: relays }, newRelay);
    return async (request) => {
      const commit = commits[Math.floor(random() * relays)];
      const decision = await commit?.decide(request, clock.monotonicMs() + deadlineMs);
      return decision?.outcome === 'admitted';
    };
  };
}

export async function closedLoop(
  admit: Admit,
  options: {
    readonly clock: LedgerClock;
    readonly forMs: number;
    readonly inFlight: number;
    readonly roots: number;
    readonly firstJobId?: number;
  },
) {
  const { clock, roots, firstJobId = 1 } = options;
  const startedMs = clock.monotonicMs();
  const latenciesMs: number[] = [];
  let jobId = firstJobId;
  let admitted = 0;
  const loop = async (index: number): Promise<void> => {
    while (clock.monotonicMs() - startedMs < options.forMs) {
      const sentMs = clock.monotonicMs();
      if (await admit(benchRequest(jobId++, index % roots))) admitted += 1;
      latenciesMs.push(clock.monotonicMs() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, (_, index) => loop(index)));
  const perSecond = (admitted * 1000) / (clock.monotonicMs() - startedMs);
  return { admitted, perSecond, latenciesMs: latenciesMs.toSorted((a, b) => a - b) };
}

const BATCH = 100;
const WINDOW_MS = 1_000;
/** A shard stands for a partition. A job writes about twelve units to the table from request to end. */
const SHARD_JOBS_PER_SECOND = 80;
const PAUSE_MS = 100;

function settlingStream(
  { store, clock, random }: Pick<ReturnType<typeof deployment>, 'store' | 'clock' | 'random'>,
  jobsPerSecond: number,
) {
  const shards = Array.from({ length: Math.ceil(jobsPerSecond / SHARD_JOBS_PER_SECOND) }, (): JobEnd[] => []);
  const stream = {
    settled: 0,
    isStopped: false,
    push: (end: JobEnd) => void shards[Math.floor(random() * shards.length)]?.push(end),
  };
  const read = async (ends: JobEnd[]): Promise<void> => {
    const ledger = createLedger({ store, clock, random });
    while (!stream.isStopped) {
      if (ends.length === 0) await clock.sleep(PAUSE_MS * (0.5 + random()));
      else if (ends.length < BATCH) await clock.sleep(WINDOW_MS);
      const batch = ends.splice(0, BATCH);
      if (batch.length === 0) continue;
      const outcomes = await ledger.settle(batch);
      stream.settled += outcomes.filter((outcome) => outcome === 'applied').length;
      const again = batch.filter((_, index) => outcomes[index] === 'undecided');
      if (again.length > 0) await clock.sleep(PAUSE_MS);
      ends.unshift(...again);
    }
  };
  for (const ends of shards) void read(ends);
  return stream;
}

export interface LoadPoint {
  readonly roots: number;
  readonly relays: number | 'naive';
  readonly isShared: boolean;
  readonly perSecond: number;
  readonly itemMs?: number | undefined;
}

export type LoadOutcome = Awaited<ReturnType<typeof measureLoad>>;

const DEADLINE_MS = 2_000;
const FOR_MS = 3_000;
const JOB_MS = 200;
/** Ends may lag behind admissions at a peak, but must catch up. */
const SETTLED_WITHIN_MS = 10_000;

/**
 * Sends requests at random instants of a schedule, without waiting for earlier responses. A latency counts from the scheduled
 * instant, so a side that stalls gets no fewer requests meanwhile.
 */
export async function measureLoad(point: LoadPoint) {
  const { roots, relays, isShared, perSecond, itemMs } = point;
  const { clock, random, store, calls, openRelays } = deployment(roots, itemMs, isShared, DEADLINE_MS);
  const admit = openRelays(relays);
  let admitted = 0;
  const stream = settlingStream({ store, clock, random }, perSecond);
  const one = async (jobId: number): Promise<void> => {
    if (!(await admit(benchRequest(jobId, Math.floor(random() * roots))))) return;
    admitted += 1;
    clock.after(JOB_MS, () => stream.push({ jobId, durationSeconds: 60, endedAtMs: clock.nowMs() }));
  };
  const load = async (): Promise<readonly number[]> => {
    const startedMs = clock.monotonicMs();
    const waited: Promise<number>[] = [];
    const gapMs = (): number => (-Math.log(1 - random()) * 1_000) / perSecond;
    for (let dueMs = gapMs(); dueMs < FOR_MS; dueMs += gapMs()) {
      const aheadMs = startedMs + dueMs - clock.monotonicMs();
      if (aheadMs > 0) await clock.sleep(aheadMs);
      waited.push(one(waited.length + 1).then(() => clock.monotonicMs() - startedMs - dueMs));
    }
    const latencies = (await Promise.all(waited)).toSorted((a, b) => a - b);
    await clock.sleep(SETTLED_WITHIN_MS);
    stream.isStopped = true;
    return latencies;
  };
  const latenciesMs = await clock.run(load());
  const jobs = latenciesMs.length;
  return {
    ...{ ...point, ...store.perJob(admitted), jobs },
    undecidedShare: (jobs - admitted) / jobs,
    jobsPerCall: jobs / (calls.length || jobs),
    p99Ms: quantile(latenciesMs, 0.99),
    settledShare: stream.settled / admitted,
  };
}
