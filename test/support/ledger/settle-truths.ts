import { type JobTruth, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';
import {
  type ChargeDeps,
  type ChargeOutcome,
  chargeBypass,
  endEach,
} from '../../../functions/core/truth/charge-bypass.ts';
import { type EndOfJob, endOfJob } from '../../../functions/core/truth/verdict.ts';

export type SettleDeps = ChargeDeps & { readonly ledger: Pick<Ledger, 'release'> };

export type TruthOutcome = ChargeOutcome | 'admitted_yet_failed' | 'ignored' | 'unclear';

/** Ends jobs by GitLab's word, in any order and repeatedly, as the sweep does: without its calls. */
export async function settleTruths(
  truths: readonly JobTruth[],
  deps: SettleDeps,
): Promise<readonly TruthOutcome[]> {
  const outcomes = new Map<number, TruthOutcome>();
  const last = lastWords(truths, deps.clock.nowMs());
  for (const { truth, what } of last)
    outcomes.set(truth.jobId, what.kind === 'unclear' ? 'unclear' : 'ignored');
  const gone = last.flatMap(({ truth: { jobId }, what }) =>
    what.kind === 'gone' ? [{ jobId, cause: what.cause }] : [],
  );
  const released = await endEach(gone, (some) => deps.ledger.release(some), deps.log);
  gone.forEach(({ jobId, cause }, index) => {
    const outcome = released[index] ?? 'undecided';
    const isYetFailed = outcome === 'applied' && cause === REJECTED_BY_ROUTER;
    if (outcome !== 'unknown') outcomes.set(jobId, isYetFailed ? 'admitted_yet_failed' : outcome);
  });
  const ran = last.flatMap(({ truth, what }) => (what.kind === 'ran' ? [truth] : []));
  const charged = await chargeBypass(ran, deps);
  for (const [index, { jobId }] of ran.entries()) outcomes.set(jobId, charged[index] ?? 'undecided');
  return truths.map(({ jobId }) => outcomes.get(jobId) ?? 'ignored');
}

function lastWords(truths: readonly JobTruth[], nowMs: number) {
  const byJob = new Map<number, { readonly truth: JobTruth; readonly what: EndOfJob }>();
  for (const truth of truths) {
    const what = endOfJob(truth, nowMs);
    const known = byJob.get(truth.jobId);
    if (known === undefined || outdoes(what, known.what)) byJob.set(truth.jobId, { truth, what });
  }
  return [...byJob.values()];
}

const RANK = { open: 0, gone: 1, unclear: 2, ran: 3 } as const;

/** A run wins over no run, as in the ledger; then the later end, then the longer duration. */
function outdoes(one: EndOfJob, other: EndOfJob): boolean {
  if (one.kind !== 'ran' || other.kind !== 'ran') return RANK[one.kind] > RANK[other.kind];
  const laterMs = one.end.endedAtMs - other.end.endedAtMs;
  return laterMs !== 0 ? laterMs > 0 : one.end.durationSeconds > other.end.durationSeconds;
}
