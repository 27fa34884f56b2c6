import type { LiveLimits, Preview } from '../../../functions/core/limits/index.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import { EXIT, type ExitCode } from '../../terminal/command.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { setShown } from '../limits/live-set.ts';
import { type BacktestLine, backtestLine } from './backtest-edit.ts';
import { changeRowsText, oversubscriptionText } from './change-rows.ts';
import { editProblemText, type OutcomeFormat, staleText } from './tell-outcome.ts';

/** What edits would do. @param more - for --json. @throws {DocumentError} with every problem. */
export function tellPreview(
  preview: Preview,
  lived: BacktestLine | undefined,
  { base, live }: { readonly base: string | undefined; readonly live: LiveLimits | undefined },
  { currency, json, io }: OutcomeFormat,
  more: object = {},
): ExitCode {
  if (preview.outcome === 'invalid') throw new DocumentError(preview.problems.map(editProblemText));
  const { stale, theirs, rows, oversubscription, needsConfirmation, needsApproval, lockout } = preview;
  const code = stale ? EXIT.wouldReject : EXIT.ok;
  if (json) {
    const both = stale && {
      live: live === undefined ? null : setShown(live.pointer, live.change),
      theirs: theirs ?? null,
    };
    const told = { stale, rows, ...both, oversubscription, needsConfirmation, needsApproval, lockout };
    io.out(
      `${JSON.stringify({ outcome: 'dry_run', base: base ?? null, ...told, ...more, backtest: lived ?? null })}\n`,
    );
    return code;
  }
  const paint = paintWhen(io.colours);
  // What it would do to a set that is gone helps nobody but beside what became of that set.
  if (stale) {
    const changes = (some: typeof rows): string => changeRowsText(some, currency, io.columns, paint);
    io.err(staleText({ live, mine: rows, ...(theirs !== undefined && { theirs }) }, base, changes, io));
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
