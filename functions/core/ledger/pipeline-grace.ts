/** Grace: a job that does not fit is let in a little further if its pipeline already has an admitted job. */

import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { LedgerClock } from '../environment/clock.ts';
import { LedgerError } from '../store/ledger-error.ts';
import { TRANSACTION_RESERVE_MS, timeLeftMs } from './attempt.ts';
import type { Job } from './job.ts';
import { pipelineOf } from './pipeline-runs.ts';

import type { LedgerStore } from './store.ts';
import { weigh } from './weigh.ts';
import type { KnownCounter, Weighing } from './weighing.ts';

/** A consistent read takes a few milliseconds; without it the job is undecided. */
const READ_TIMEOUT_MS = 300;

/** Weighs; where a job hangs on its pipeline, reads the pipelines of the pack in one batch and weighs again. */
export async function weighWithGrace(
  jobs: readonly Job[],
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  deps: { readonly store: LedgerStore; readonly clock: LedgerClock },
): Promise<Weighing> {
  const weighing = weigh(jobs, known);
  const hanging = weighing.verdicts.filter(({ graceUnknown }) => graceUnknown);
  if (hanging.length === 0) return weighing;
  const cause = await learnPipelines(jobs, known, deadlineMs, deps);
  // Found too large, but not for certain: that is our trouble, not the job's.
  if (cause !== undefined) for (const { job } of hanging) job.outcome = { outcome: 'undecided', cause };
  return weigh(
    jobs.filter(({ outcome }) => outcome === undefined),
    known,
  );
}

/** All pipelines of the pack: whom one job's grace leaves no room may need its own. */
async function learnPipelines(
  jobs: readonly Job[],
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  { store, clock }: { readonly store: LedgerStore; readonly clock: LedgerClock },
): Promise<'deadline' | 'unavailable' | undefined> {
  const leftMs = timeLeftMs(deadlineMs, clock);
  if (leftMs < TRANSACTION_RESERVE_MS) return 'deadline';
  const keys = new Map<string, CounterKey>();
  for (const job of jobs) {
    const key = pipelineOf(job);
    if (key !== undefined && !known.has(counterName(key))) keys.set(counterName(key), key);
  }
  try {
    const counters = await store.readCounters([...keys.values()], {
      timeoutMs: Math.min(READ_TIMEOUT_MS, leftMs),
    });
    for (const [index, name] of [...keys.keys()].entries()) {
      const { committed = 0, fitted = 0, settled = 0 } = counters[index] ?? {};
      known.set(name, { committed, fitted, settled });
    }
    return undefined;
  } catch (error) {
    if (error instanceof LedgerError) return 'unavailable';
    throw error;
  }
}
