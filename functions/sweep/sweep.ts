/**
 * The sweep, once a minute: every hold ends by GitLab's outcome, even if webhooks were lost. It never frees before asking.
 *
 *   verify-due ──▶ compare-live ──▶ confirm-ends ──▶ find-bypass ──▶ close-over
 *   due holds      slots wrongly     ends that         jobs that ran     periods without
 *                  taken             webhooks reported without admission live jobs
 *
 * Each part has its share of the run's time and calls, and continues where it stopped. A lost process loses no other state.
 */

import { actionForHold } from '../core/job-ends/actions.ts';
import { createActionWriter } from '../core/job-ends/conclude.ts';
import { compareLive } from './compare-live.ts';
import { confirmEnds } from './confirm-ends.ts';
import { findBypass } from './find-bypass.ts';
import { lookUp, readLiveHolds } from './look-up.ts';
import { createSweepGitLab, newTally, type SweepDeps, type SweepReport, type SweepRun } from './run.ts';

const RUN_MS = 50_000;
/** Sixteen in parallel at 100 ms would be 8000 calls per run; half of that leaves GitLab to its users. */
const CALLS_MAX = 4_000;

/** Keys in memory; more jobs in flight need more than one minute of GitLab's responses. */
const LIVE_MAX = 20_000;
/** When each part must have ended, as a share of the run; what one leaves over is the next one's. */
const DUE_UNTIL = 0.45;
const LIVE_UNTIL = 0.7;
const CONFIRM_UNTIL = 0.85;

/** @throws {LedgerError} `ledger_unavailable`: the table did not answer; the next run begins where this one stopped. */
export async function sweep(deps: SweepDeps): Promise<SweepReport> {
  const { ledger, clock, memory, runMs = RUN_MS, callsMax = CALLS_MAX } = deps;
  const startMs = clock.monotonicMs();
  const tally = newTally();
  const boundedGitLab = createSweepGitLab(deps.gitlab, { clock, tally, memory });
  const live = await ledger.dueJobs(Number.MAX_SAFE_INTEGER, LIVE_MAX);
  tally.live = live.length;
  const run: SweepRun = {
    ...{ ...deps, boundedGitLab, tally, live },
    concluding: createActionWriter({ ...deps, tally }),
    checkedJobIds: new Set(),
    liveIds: new Set(live.map(({ jobId }) => jobId)),
    untracked: new Map(),
  };
  const allow = (share: number): void =>
    boundedGitLab.allow(startMs + runMs * share, Math.floor(callsMax * share) - tally.calls);

  allow(DUE_UNTIL);
  await verifyDue(run);
  allow(LIVE_UNTIL);
  await compareLive(run);
  allow(CONFIRM_UNTIL);
  await confirmEnds(run);
  allow(1);
  await findBypass(run);
  await closeOver(startMs + runMs, run);
  return tally;
}

/** A weekend of lost webhooks on a busy day; the keys of more would be read for nothing, as no minute is enough for them. */
const DUE_MAX = 10_000;
/** A hold without the ids to ask GitLab has its own alarm; many such holds must not block the others. */
const UNASKABLE_MS = 60 * 60_000;

/** Each asked hold ends or gets a later due time, so the due order is the cursor. */
async function verifyDue(run: SweepRun): Promise<void> {
  const { live, clock, boundedGitLab, concluding, tally, checkedJobIds } = run;
  const nowMs = clock.nowMs();
  const due = live.filter(({ dueAtMs }) => dueAtMs < nowMs).slice(0, DUE_MAX);
  tally.due = due.length;
  tally.oldestDueAgeMs = due[0] === undefined ? 0 : nowMs - due[0].dueAtMs;
  if (due.length === 0 || !boundedGitLab.mayAsk()) return;

  const holds = await readLiveHolds(
    due.map(({ jobId }) => jobId),
    run,
  );
  // Reservations of retried jobs without an admission request in time end without asking GitLab.
  const held = new Set(holds.map(({ jobId }) => jobId));
  const others = due.flatMap(({ jobId }) => (held.has(jobId) ? [] : jobId));
  if (others.length > 0) await run.ledger.endReservations(others, clock.nowMs());
  let seeing: Promise<boolean> | undefined;
  // A token that is no administrator's sees a 404 where a job lives in a project it may not read.
  const seesEverything = (): Promise<boolean> => {
    seeing ??= boundedGitLab.runners(undefined).then(({ kind }) => kind === 'answered');
    return seeing;
  };
  const unasked = await lookUp(
    // The index lags: what was postponed a moment ago is not due any more.
    holds.filter(({ dueAtMs }) => dueAtMs <= nowMs),
    boundedGitLab,
    async (hold, answer) => {
      checkedJobIds.add(hold.jobId);
      const { jobId } = hold;
      if (answer.kind !== 'answered')
        return concluding.take({ do: 'postpone', jobId, dueAtMs: clock.nowMs() + answer.againMs });
      tally.verified += 1;
      const action = actionForHold(hold, answer.value, clock.nowMs());
      if (action.do !== 'expire' || (await seesEverything())) return concluding.take(action);
      tally.unaskable += 1;
      return concluding.take({ do: 'postpone', jobId, dueAtMs: clock.nowMs() + UNASKABLE_MS });
    },
  );
  // GitLab cannot be asked about these at all, so nothing about them may be freed.
  for (const { jobId, projectId } of unasked) {
    if (projectId !== undefined) continue;
    tally.unaskable += 1;
    await concluding.take({ do: 'postpone', jobId, dueAtMs: clock.nowMs() + UNASKABLE_MS });
  }
  await concluding.flush();
}

/** Periods end once a day at most, and have weeks to be closed. */
const EVERY_MS = 10 * 60_000;
const PAGES_MAX = 10;

/** Closes nothing while GitLab is silent or the table left an end open. */
async function closeOver(deadlineMs: number, { closePeriods, clock, memory, tally }: SweepRun) {
  if (closePeriods === undefined || tally.gitlabSilent || tally.undecided > 0) return;
  if (clock.nowMs() - memory.closedAtMs < EVERY_MS) return;
  memory.closedAtMs = clock.nowMs();
  for (let page = 1; page <= PAGES_MAX && clock.monotonicMs() < deadlineMs; page += 1) {
    const { closed, waiting, undecided } = await closePeriods(deadlineMs);
    tally.closedPeriods += closed;
    tally.waitingPeriods += waiting;
    if (closed + waiting === 0 || undecided > 0) return;
  }
}
