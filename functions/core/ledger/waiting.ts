/**
 * Lets jobs wait for headroom instead of rejecting them. Waiting jobs write nothing, and later jobs do not
 * take their place.
 */
import type { LimitClaim } from '../../../policies/claim.ts';
import type { LedgerClock } from '../environment/index.ts';
import { LedgerError } from '../store/index.ts';
import { TRANSACTION_RESERVE_MS, timeLeftMs } from './attempt.ts';
import type { HoldJob, WeighedVerdict, WeighingResult } from './job.ts';
import type { JobRecord } from './ledger.ts';
import type { ClaimOutcome, KnownCounter } from './merge.ts';
import type { LedgerStore } from './store.ts';

/** A consistent read takes a few milliseconds; without it the job is undecided. */
const READ_TIMEOUT_MS = 300;

/** There may be room, but not for this job: what is left is spoken for, and so counts as taken. */
export function refusedForOthers(
  claim: LimitClaim,
  judged: ClaimOutcome,
  { committed, settled }: Pick<KnownCounter, 'committed' | 'settled'> = { committed: 0, settled: 0 },
): ClaimOutcome {
  const { rule, class: ruleClass, mode, bound = 0 } = claim;
  const reason = claim.refusal(
    claim.part === undefined
      ? { committed: Math.max(committed, bound), settled }
      : { committed, settled, lentOut: true },
  );
  return { ...judged, refused: { rule, class: ruleClass, mode, reason } };
}

interface SiftDeps {
  readonly store: Pick<LedgerStore, 'readRecords'>;
  readonly clock: LedgerClock;
  readonly learnRecord: (job: HoldJob, record: JobRecord | undefined) => void;
}

/**
 * Takes out the jobs that may go on waiting. A job whose record was never looked at may hold already, so that is read first;
 * a rejected job takes no room, so the rest stands.
 */
export async function siftWaiting(
  weighing: WeighingResult,
  deadlineMs: number,
  deps: SiftDeps,
): Promise<WeighingResult> {
  const waiting = weighing.verdicts.filter((verdict) => leftMsOf(verdict) > 0);
  if (waiting.length === 0) return weighing;
  const unasked = waiting.flatMap(({ job }) => (job.asked ? [] : [job]));
  if (unasked.length > 0) await lookUp(unasked, deadlineMs, deps);
  for (const verdict of waiting) verdict.job.outcome ??= waitingOutcome(verdict);
  return { ...weighing, verdicts: weighing.verdicts.filter(({ job }) => job.outcome === undefined) };
}

async function lookUp(
  jobs: readonly HoldJob[],
  deadlineMs: number,
  { store, clock, learnRecord }: SiftDeps,
): Promise<void> {
  const timeoutMs = Math.min(READ_TIMEOUT_MS, timeLeftMs(deadlineMs, clock) - TRANSACTION_RESERVE_MS);
  try {
    const records =
      timeoutMs > 0
        ? await store.readRecords(
            jobs.map(({ ask }) => ask.jobId),
            { timeoutMs },
          )
        : undefined;
    for (const [index, job] of jobs.entries()) {
      if (records === undefined) job.outcome = { outcome: 'undecided', cause: 'deadline' };
      else learnRecord(job, records[index]);
    }
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    for (const job of jobs) job.outcome = { outcome: 'undecided', cause: 'unavailable' };
  }
}

const leftMsOf = ({ waitMs = 0, job: { ask } }: WeighedVerdict): number =>
  ask.wait === undefined || ask.wait.last ? 0 : waitMs - ask.wait.waitedMs;

function waitingOutcome(verdict: WeighedVerdict): HoldJob['outcome'] {
  const [first, ...rest] = verdict.violations;
  if (first === undefined) return undefined;
  const { awaited: counters = [] } = verdict;
  return { outcome: 'waiting', leftMs: leftMsOf(verdict), counters, violations: [first, ...rest] };
}
