import {
  ACT_WORDS,
  type ApplyOutcome,
  type ChangeRow,
  type Denial,
  whoMayText,
} from '../../../functions/core/limits/index.ts';
import { type DocumentProblem, problemText } from '../../../policies/document/parsed.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import { EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { setShown } from '../limits/live-set.ts';
import { setText } from '../limits/set-text.ts';
import { rollupZone } from '../rollup-zone.ts';
import { changeRowsText } from './change-rows.ts';

/** How something is told. */
export interface OutcomeFormat {
  readonly currency: string;
  readonly json: boolean;
  readonly io: TerminalIo;
}

type Of<Outcome extends ApplyOutcome['outcome']> = Extract<ApplyOutcome, { outcome: Outcome }>;

/** What became of edits. @throws {DocumentError} with every problem. */
export function tellOutcome(
  outcome: ApplyOutcome,
  base: string | undefined,
  telling: OutcomeFormat,
): ExitCode {
  const { json, io } = telling;
  if (outcome.outcome === 'invalid') throw new DocumentError(outcome.problems.map(editProblemText));
  const code = outcome.outcome === 'live' || outcome.outcome === 'unchanged' ? EXIT.ok : EXIT.wouldReject;
  if (json) {
    io.out(`${JSON.stringify(jsonOf(outcome, base))}\n`);
    return code;
  }
  const told = textOf(outcome, base, telling, paintWhen(io.colours));
  if (code === EXIT.ok) io.out(told);
  else io.err(told);
  return code;
}

/** A command makes one edit: which of the edits it was need not be said. */
export const editProblemText = ({ path, message }: DocumentProblem): string =>
  problemText({ path: path[0] === 'edits' && path.length > 2 ? path.slice(2) : path, message });

function jsonOf(outcome: ApplyOutcome, base: string | undefined): object {
  if (outcome.outcome !== 'stale') return outcome;
  const { live, mine, theirs } = outcome;
  const shown = live && setShown(live.pointer, live.change);
  return {
    outcome: 'stale',
    base: base ?? null,
    live: shown ?? null,
    mine: mine ?? null,
    theirs: theirs ?? null,
  };
}

function textOf(
  outcome: Exclude<ApplyOutcome, { outcome: 'invalid' }>,
  base: string | undefined,
  telling: OutcomeFormat,
  paint: Paint,
): string {
  const rows = (changes: readonly ChangeRow[]): string =>
    changeRowsText(changes, telling.currency, telling.io.columns, paint);
  switch (outcome.outcome) {
    case 'live':
      return `${rows(outcome.rows)}${paint.good('live')}  set ${outcome.pointer.set}, edit ${outcome.pointer.edit}\n`;
    case 'unchanged':
      return 'It is so already; nothing was written.\n';
    case 'stale':
      return staleText(outcome, base, rows, telling.io);
    case 'forbidden':
      return `${paint.bad('Refused')}, nothing was changed:\n${outcome.denied.map(deniedText).join('')}`;
    case 'needs_confirmation':
      return [
        'Nothing was changed yet. Say --confirm if this is meant:\n',
        rows(outcome.rows),
        ...outcome.lockout.map((each) => `${printable(each)}\n`),
      ].join('');
    case 'needs_approval':
      return approvalText(outcome, rows);
  }
}

/** Both versions: what others did meanwhile, and what this would have done. */
export function staleText(
  { live, mine, theirs }: Omit<Of<'stale'>, 'outcome'>,
  base: string | undefined,
  rows: (changes: readonly ChangeRow[]) => string,
  io: Pick<TerminalIo, 'colours' | 'env'>,
): string {
  const paint = paintWhen(io.colours);
  const head = `Nothing was changed: this is an edit of ${base === undefined ? 'no set' : `set ${base}`}, and another one is live.\n`;
  const set = live === undefined ? '' : setText(setShown(live.pointer, live.change), rollupZone(io), paint);
  const part = (title: string, changes: readonly ChangeRow[] | undefined, none: string): string =>
    `${paint.strong(title)}\n${changes === undefined || changes.length === 0 ? `${none}\n` : rows(changes)}`;
  return [
    head,
    set,
    part(
      'theirs',
      theirs,
      theirs === undefined ? 'cannot be told any more' : 'nothing about the same subjects',
    ),
    part('mine', mine, mine === undefined ? 'cannot be told any more' : 'nothing'),
    'Look at both, and make the edit again.\n',
  ].join('');
}

const deniedText = ({ row, act, needs }: Denial): string =>
  `${printable(row.path ?? row.subject)} ${printable(row.limit)} ${row.field}: to ${ACT_WORDS[act]} you must be ${whoMayText(act, needs)}\n`;

function approvalText(
  { request, by, rows: changes }: Of<'needs_approval'>,
  rows: (changes: readonly ChangeRow[]) => string,
): string {
  const who = whoMayText('approve', by);
  const next =
    request === undefined
      ? `Somebody else has to approve this, who is ${who}. No request was filed: too many are waiting already.\n`
      : `Request ${request.id} waits for somebody else, who is ${who}: tollgate budget approve ${request.id}\n`;
  return `Nothing was changed yet.\n${rows(changes)}${next}`;
}
