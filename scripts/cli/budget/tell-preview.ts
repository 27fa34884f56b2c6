import type { PreviewAnswer } from '../../../functions/answers/limits/edit-models.ts';
import { EXIT, type ExitCode } from '../../terminal/command.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import type { SetView } from '../limits/live-set.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { changeRowsText, oversubscriptionText } from './change-rows.ts';
import { type OutcomeFormat, staleText } from './tell-outcome.ts';

/** Result of the backtest. */
export interface BacktestLine {
  readonly days: number;
  /** Records read, of all subjects. */
  readonly jobsRead: number;
  readonly jobs: number;
  /** Under the edited limits. */
  readonly wouldFail: number;
  /** Under the limits as they are: some jobs were decided by others. */
  readonly wouldFailNow: number;
  /** Get their room within the `wait` of an edited limit. Absent: none. */
  readonly wouldWait?: number;
  /** Real results. */
  readonly failed: number;
}

type ValidPreview = Omit<Extract<PreviewAnswer, { outcome: 'valid' }>, 'effects'>;

/** Prints the effect of edits. @param more - for --json. */
export function tellPreview(
  preview: ValidPreview,
  lived: BacktestLine | undefined,
  { base, live }: { readonly base: string | undefined; readonly live: SetView | undefined },
  { currency, json, io }: OutcomeFormat,
  more: object = {},
): ExitCode {
  const { stale, theirs, rows, oversubscription, needsConfirmation, needsApproval, lockout } = preview;
  const code = stale ? EXIT.wouldReject : EXIT.ok;
  if (json) {
    const both = stale && { live: live ?? null, theirs: theirs ?? null };
    const told = { stale, rows, ...both, oversubscription, needsConfirmation, needsApproval, lockout };
    io.out(
      `${JSON.stringify({ outcome: 'dry_run', base: base ?? null, ...told, ...more, backtest: lived ?? null })}\n`,
    );
    return code;
  }
  const paint = paintWhen(io.colours);
  // For an outdated set, the effect is only useful together with the changes since.
  if (stale) {
    io.err(staleText({ live, mine: rows, theirs }, base, currency, io));
    return code;
  }
  const lines = [
    rows.length === 0
      ? 'No limit differs from the live set.\n'
      : changeRowsText(rows, currency, io.columns, paint),
    oversubscriptionText(oversubscription, currency),
    lived === undefined ? '' : `${backtestLine(lived)}\n`,
    needsConfirmation.length === 0
      ? ''
      : paint.warn(
          `${needsConfirmation.length} of these change an amount more than threefold, or a mode to a milder one: --confirm is needed\n`,
        ),
    needsApproval.length === 0
      ? ''
      : paint.warn('somebody else has to approve this: it gives more than half as much again\n'),
    ...lockout.map((each) => paint.bad(`${printable(each)}: --confirm is needed\n`)),
  ];
  io.out(`${lines.join('')}Nothing was written.\n`);
  return code;
}

/** `last 30 days: 12 of 340 jobs would have failed; 3 with the limits as they are, 4 did`. */
function backtestLine(line: BacktestLine): string {
  const { days, jobsRead, jobs, wouldFail, wouldFailNow, wouldWait = 0, failed } = line;
  if (jobs === 0) return `last ${days} days: no jobs, so nothing can be said about them`;
  const waited = wouldWait === 0 ? '' : `, ${shadowCount(wouldWait)} would have waited for room`;
  return `last ${days} days: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed; ${shadowCount(wouldFailNow)} with the limits as they are, ${shadowCount(failed)} did${waited}; ${shadowCount(jobsRead)} records read`;
}
