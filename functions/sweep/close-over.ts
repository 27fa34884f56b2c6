/** Closes periods that are over, after everything else of a run: what GitLab said in it is counted by then. */
import type { ClosedPeriods } from '../core/ledger/close-periods.ts';
import type { LedgerClock } from '../core/ledger/ledger.ts';
import type { Tally } from './report.ts';
import type { SweepMemory } from './sweep-memory.ts';

/** One page of what is due, oldest first. @param deadlineMs - on the monotonic clock */
export type ClosePeriods = (deadlineMs: number) => Promise<ClosedPeriods>;

/** Periods end once a day at most, and have weeks to be closed. */
const EVERY_MS = 10 * 60_000;
/** Some thousand periods; the next time goes on. */
const PAGES_MAX = 10;

export interface CloseOverDeps {
  readonly closePeriods: ClosePeriods;
  readonly clock: LedgerClock;
  readonly memory: Pick<SweepMemory, 'closedAtMs'>;
  readonly tally: Tally;
}

/**
 * Nothing is closed while GitLab is silent or the table left an end open. Whatever else a run left for the next one, a
 * period on which a live job holds stays open.
 */
export async function closeOver(
  deadlineMs: number,
  { closePeriods, clock, memory, tally }: CloseOverDeps,
): Promise<void> {
  if (tally.gitlabSilent || tally.undecided > 0) return;
  if (clock.nowMs() - memory.closedAtMs < EVERY_MS) return;
  memory.closedAtMs = clock.nowMs();
  for (let page = 1; page <= PAGES_MAX && clock.monotonicMs() < deadlineMs; page += 1) {
    const { closed, waiting, undecided } = await closePeriods(deadlineMs);
    tally.closedPeriods += closed;
    tally.waitingPeriods += waiting;
    if (closed + waiting === 0 || undecided > 0) return;
  }
}
