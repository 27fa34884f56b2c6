/**
 * A job that expired with its hold charged is asked about again: the charge goes back first, or it would pay twice. So does room that is
 * kept where the job does not ask for any.
 */
import { counterName } from '../../../policies/claim.ts';
import { type HoldJob, isCharged } from './job.ts';
import type { JobRecord } from './ledger.ts';
import { type MoveDeps, makeMoves } from './make-moves.ts';
import { correction, type Move, noMove } from './move.ts';
import { freed, isReserved, reservedClaims } from './reservation.ts';
import { answerFromRecord } from './same-job.ts';

/** EXPIRED stays EXPIRED, charged with nothing; nothing is kept for the job any more. */
export function reopenMove(record: JobRecord | undefined, nowMs: number): Move<'free'> {
  if (record === undefined) return noMove('free');
  if (isReserved(record)) return { outcome: 'free', ...freed(record, nowMs) };
  if (!isCharged(record)) return noMove('free');
  return { outcome: 'free', ...correction(record, () => 0, 'reopened', nowMs) };
}

/** Something of its record must go back before the job is weighed. What is kept for it is taken over as it is weighed. */
function mustGiveBack({ prior, names }: HoldJob): boolean {
  if (!isReserved(prior)) return isCharged(prior);
  return (
    prior?.state === 'REJECTED' ||
    reservedClaims(prior).some(({ counter }) => !names.includes(counterName(counter)))
  );
}

/**
 * Returns charges of expired jobs in a transaction of its own, because it is rare. A job whose charge could
 * not be returned in time is undecided.
 *
 * @returns the names of the changed counters, whose known amounts are stale.
 */
export async function giveBackCharges(
  jobs: readonly HoldJob[],
  deadlineMs: number,
  deps: MoveDeps,
): Promise<readonly string[]> {
  const charged = jobs.flatMap((job) =>
    job.prior !== undefined && mustGiveBack(job) ? [{ job, prior: job.prior }] : [],
  );
  if (charged.length === 0) return [];
  const records = new Map(charged.map(({ job, prior }) => [job.ask.jobId, prior]));
  const nowMs = deps.clock.nowMs();
  const wishes = charged.map(({ job }) => ({
    jobId: job.ask.jobId,
    plan: (record: JobRecord | undefined) => reopenMove(record, nowMs),
  }));
  const outcomes = await makeMoves(wishes, records, deadlineMs, deps);
  for (const [index, { job }] of charged.entries()) {
    job.prior = records.get(job.ask.jobId);
    // Another process may have reopened it first and hold it by now.
    if (outcomes[index] === 'undecided') job.outcome = { outcome: 'undecided', cause: 'unavailable' };
    else job.outcome = job.prior && answerFromRecord(job.prior, nowMs);
  }
  return charged.flatMap(({ prior }) => prior.claims.map(({ counter }) => counterName(counter)));
}
