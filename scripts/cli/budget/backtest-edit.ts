import { backtest } from '../../../functions/answers/backtest/backtest.ts';
import type { BacktestFigures } from '../../../functions/answers/backtest/figures.ts';
import { JobSubjects } from '../../../functions/answers/backtest/job-subjects.ts';
import type { JobRecord } from '../../../functions/core/ledger/index.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import type { BudgetContext } from '../api/open-api.ts';
import { groupFilter } from '../report/group-filter.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { progressOf } from '../truth/progress.ts';

const BACKTEST_DAYS = 30;

/** What the jobs of the last days would have met. */
export interface BacktestLine {
  readonly days: number;
  readonly jobs: number;
  /** Under the edited limits. */
  readonly wouldFail: number;
  /** Under the limits as they are: some jobs were decided by others. */
  readonly wouldFailNow: number;
  /** What really happened. */
  readonly failed: number;
}

interface Compared {
  readonly before: LimitSet;
  readonly after: LimitSet;
  /** Counts its jobs only; undefined: all. */
  readonly subject?: string | undefined;
}

export async function backtestEdit(
  { before, after, subject }: Compared,
  { ledger, policy, directory }: Pick<BudgetContext, 'ledger' | 'policy' | 'directory'>,
  io: TerminalIo,
): Promise<BacktestLine> {
  const untilMs = io.nowMs();
  const progress = progressOf('jobs replayed', io);
  const counts = countsOf(subject, directory);
  const replay = (limits: LimitSet): Promise<BacktestFigures> =>
    backtest(ledger, {
      sinceMs: untilMs - BACKTEST_DAYS * DAY_MS,
      untilMs,
      rules: { policy, limits, directory },
      counts,
      onJob: progress.step,
    });
  try {
    const { jobs, rejectedNow: wouldFail, rejectedThen: failed } = await replay(after);
    const { rejectedNow: wouldFailNow } = await replay(before);
    return { days: BACKTEST_DAYS, jobs, wouldFail, wouldFailNow, failed };
  } finally {
    progress.done();
  }
}

function countsOf(
  subject: string | undefined,
  directory: BudgetContext['directory'],
): (record: JobRecord) => boolean {
  if (subject === undefined) return () => true;
  // Finds jobs of groups the directory does not know by their paths, too.
  if (subject.startsWith('group/')) return groupFilter(subject.slice('group/'.length), directory).counts;
  const subjects = new JobSubjects([subject], directory);
  return (record) => subjects.of(record).length > 0;
}

/** `last 30 days: 12 of 340 jobs would have failed; 3 with the limits as they are, 4 did`. */
export function backtestLine({ days, jobs, wouldFail, wouldFailNow, failed }: BacktestLine): string {
  if (jobs === 0) return `last ${days} days: no jobs, so nothing can be said about them`;
  return `last ${days} days: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed; ${shadowCount(wouldFailNow)} with the limits as they are, ${shadowCount(failed)} did`;
}
