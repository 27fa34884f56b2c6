/**
 * The sweep of every minute: whatever was lost on the way, every hold ends in what GitLab says. It never frees before asking.
 *
 *   verify-due ──▶ compare-live ──▶ find-bypass ──▶ close-over
 *   due holds      slots wrongly     jobs that ran     periods without
 *                  taken             without admission live jobs
 *
 * Each part has its share of the run's time and calls and begins next time where it stopped; nothing else is kept between
 * runs that a lost process would take along.
 */
import type { GitLab } from '../core/gitlab/gitlab.ts';
import type { ControllerScope } from '../core/ledger/controller-scope.ts';
import type { LedgerClock } from '../core/ledger/ledger.ts';
import type { SweepMarkStore } from '../core/ledger/sweep-marks.ts';
import type { ChargeBypass } from '../core/truth/charge-found.ts';
import { newConcluding } from '../core/truth/conclude.ts';
import { newAsking } from './asking.ts';
import { type ClosePeriods, closeOver } from './close-over.ts';
import { compareLive } from './compare-live.ts';
import { findBypass } from './find-bypass.ts';
import { newTally, type SweepReport } from './report.ts';
import type { SweepMemory } from './sweep-memory.ts';
import type { SweepLedger, SweepRun } from './sweep-run.ts';
import { verifyDue } from './verify-due.ts';

export interface SweepDeps {
  readonly gitlab: GitLab;
  readonly ledger: SweepLedger;
  readonly marks: SweepMarkStore;
  readonly chargeBypass: ChargeBypass;
  /** @default no period is closed */
  readonly closePeriods?: ClosePeriods;
  /** One per process: see {@link SweepMemory}. */
  readonly memory: SweepMemory;
  readonly clock: LedgerClock;
  /** The jobs GitLab asks about. @default everybody's */
  readonly scope?: ControllerScope | undefined;
  /** Whether a job that GitLab does not know any more is charged what it held. */
  readonly chargeUnknown: 'hold' | 'nothing';
  /** @default 50 000: the schedule comes every minute. Calls under way at its end still end. */
  readonly runMs?: number;
  /** @default 4000 */
  readonly callsMax?: number;
}

const RUN_MS = 50_000;
/** Sixteen at once and 100 ms each would be 8000 in a run: half of that leaves GitLab to its users. */
export const CALLS_MAX = 4_000;

/** Keys in memory; a fleet that runs more at once needs more than one minute of GitLab's answers. */
const LIVE_MAX = 20_000;
/** Later than any due time there is: all live holds. */
const FOREVER_MS = Number.MAX_SAFE_INTEGER;

/** When each part must have ended, as a share of the run; what one leaves over is the next one's. */
const DUE_UNTIL = 0.45;
const LIVE_UNTIL = 0.85;

/** @throws {LedgerError} `ledger_unavailable`: the table did not answer; the next run begins where this one stopped. */
export async function sweep(deps: SweepDeps): Promise<SweepReport> {
  const { ledger, clock, memory, marks, chargeBypass, runMs = RUN_MS, callsMax = CALLS_MAX } = deps;
  const startMs = clock.monotonicMs();
  const tally = newTally();
  const asking = newAsking({ gitlab: deps.gitlab, clock, tally, memory });
  const concludeDeps = { ledger, tally, chargeBypass, chargeUnknown: deps.chargeUnknown };
  // Once for all parts: in most minutes nothing is due, and reading that twice would be all a run does.
  const live = await ledger.dueJobs(FOREVER_MS, LIVE_MAX);
  tally.live = live.length;
  const run: SweepRun = {
    ledger,
    clock,
    asking,
    concluding: newConcluding(concludeDeps),
    concludeDeps,
    marks,
    scope: deps.scope,
    memory,
    tally,
    looked: new Set(),
    live,
    liveIds: new Set(live.map(({ jobId }) => jobId)),
    strangers: new Map(),
  };
  const allow = (share: number): void =>
    asking.allow(startMs + runMs * share, Math.floor(callsMax * share) - tally.calls);

  allow(DUE_UNTIL);
  await verifyDue(run);
  allow(LIVE_UNTIL);
  await compareLive(run);
  allow(1);
  await findBypass(run);
  const { closePeriods } = deps;
  if (closePeriods !== undefined) await closeOver(startMs + runMs, { closePeriods, clock, memory, tally });
  return tally;
}
