/** Load as a site makes it: questions come when they come, whether or not the ones before them are answered. */
import type { LedgerClock } from '../../../functions/core/environment/index.ts';
import { createLedger } from '../../../functions/core/ledger/index.ts';
import { quantile } from '../../local/quantile.ts';
import { benchRequest } from './bench-rules.ts';
import { deployment } from './contention.ts';
import { modelledStream } from './modelled-stream.ts';

/** One point of a curve. */
export interface LoadPoint {
  readonly roots: number;
  readonly relays: number | 'naive';
  readonly isShared: boolean;
  readonly perSecond: number;
}

export interface LoadOutcome extends LoadPoint {
  readonly asked: number;
  /** Share of the questions that got no answer of the ledger in time. */
  readonly undecidedShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** What admissions and the settlements beside them take, for each admitted job. */
  readonly unitsPerJob: number;
  readonly conflictsPerJob: number;
  readonly throttlesPerJob: number;
  /** The share of the admitted jobs that is settled two seconds after the last answer. */
  readonly settledShare: number;
}

/** The relay's own default, after which the fallback answers. */
const DEADLINE_MS = 2_000;
const FOR_MS = 3_000;
/** A job here ends soon, so that admissions and ends are on the counters together. */
const JOB_MS = 200;
/** The last to end is settled so soon after the last answer, if the stream's readers keep up. */
const SETTLED_WITHIN_MS = 2_000;

/**
 * Asks at random instants of a schedule made beforehand. A latency counts from the scheduled instant: a side that stalls is not
 * asked less meanwhile.
 *
 * @returns latencies in ms, ascending.
 */
export async function openLoop(
  ask: (index: number) => Promise<void>,
  options: {
    readonly clock: LedgerClock;
    readonly perSecond: number;
    readonly forMs: number;
    readonly random: () => number;
  },
): Promise<readonly number[]> {
  const { clock, random } = options;
  const startedMs = clock.monotonicMs();
  const asked: Promise<number>[] = [];
  // Exponential gaps: arrivals that know nothing of each other.
  const gapMs = (): number => (-Math.log(1 - random()) * 1_000) / options.perSecond;
  for (let dueMs = gapMs(); dueMs < options.forMs; dueMs += gapMs()) {
    const aheadMs = startedMs + dueMs - clock.monotonicMs();
    if (aheadMs > 0) await clock.sleep(aheadMs);
    asked.push(ask(asked.length).then(() => clock.monotonicMs() - startedMs - dueMs));
  }
  return (await Promise.all(asked)).toSorted((a, b) => a - b);
}

/** One point, in virtual time, with the settlement of what was admitted running beside it. */
export async function measureLoad(point: LoadPoint): Promise<LoadOutcome> {
  const { roots, relays, isShared, perSecond } = point;
  const { clock, random, store, counts, naive, grouped } = deployment(roots, {
    isShared,
    deadlineMs: DEADLINE_MS,
  });
  const ask = relays === 'naive' ? naive() : grouped(relays);
  let admitted = 0;
  let settled = 0;
  const stream = modelledStream({
    newLedger: () => createLedger({ store, clock, random }),
    clock,
    random,
    jobsPerSecond: perSecond,
    onSettled: (ends) => {
      settled += ends;
    },
  });
  const one = async (index: number): Promise<void> => {
    const jobId = index + 1;
    if (!(await ask(benchRequest(jobId, Math.floor(random() * roots))))) return;
    admitted += 1;
    clock.after(JOB_MS, () => stream.push({ jobId, durationSeconds: 60, endedAtMs: clock.nowMs() }));
  };
  const load = async (): Promise<readonly number[]> => {
    const latencies = await openLoop(one, { clock, perSecond, forMs: FOR_MS, random });
    await clock.sleep(SETTLED_WITHIN_MS);
    stream.stop();
    return latencies;
  };
  const latenciesMs = await clock.run(load());
  const asked = latenciesMs.length;
  return {
    ...point,
    asked,
    undecidedShare: (asked - admitted) / asked,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    unitsPerJob: (counts.tableUnits + counts.indexUnits) / admitted,
    conflictsPerJob: counts.conflicts / admitted,
    throttlesPerJob: counts.throttles / admitted,
    settledShare: settled / admitted,
  };
}
