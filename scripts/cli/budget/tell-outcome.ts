import type { ChangeRow } from '../../../functions/answers/limits/edit-models.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import { EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import type { ApiAnswer } from '../api/api-in-process.ts';
import { type EditAnswer, setAnswered } from '../api/edit-answer.ts';
import type { SetView } from '../limits/live-set.ts';
import { setText } from '../limits/set-text.ts';
import { rollupZone } from '../rollup-zone.ts';
import { changeRowsText } from './change-rows.ts';

/** Output format. */
export interface OutcomeFormat {
  readonly currency: string;
  readonly json: boolean;
  readonly io: TerminalIo;
}

type Edited = Extract<EditAnswer, { ok: true }>['body'];
type Refusal = Extract<ApiAnswer<never>, { ok: false }>;

/** Prints the result of edits. @throws {DocumentError} with every problem. */
export function tellOutcome(
  answer: EditAnswer,
  base: string | undefined,
  { currency, json, io }: OutcomeFormat,
): ExitCode {
  if (!answer.ok) return tellRefusal(answer, base, { currency, json, io });
  const { body } = answer;
  const isDone = body.outcome !== 'needs_approval';
  if (json) io.out(`${JSON.stringify(isDone ? liveJson(body) : body)}\n`);
  else if (isDone) io.out(editedText(body, currency, io));
  else io.err(editedText(body, currency, io));
  return isDone ? EXIT.ok : EXIT.wouldReject;
}

/** Prints why edits or their preview were refused. @throws {DocumentError} {Error} */
export function tellRefusal(
  { status, refused }: Refusal,
  base: string | undefined,
  { currency, json, io }: OutcomeFormat,
): ExitCode {
  const { error, problems, live, mine, theirs } = refused;
  const of = refused.base ?? base;
  if (problems !== undefined) throw new DocumentError(problems.map(editProblemText));
  if (status === 429) throw new Error(`${error.message} ${error.remedy}`);
  const { code } = error;
  const set = live && setAnswered(live);
  if (json) {
    const both = { base: of ?? null, live: set ?? null, mine: mine ?? null, theirs: theirs ?? null };
    io.out(`${JSON.stringify({ outcome: code, ...refused, ...(code === 'stale' && both) })}\n`);
  } else if (code === 'stale') io.err(staleText({ live: set, mine, theirs }, of, currency, io));
  else io.err(refusalText(refused, currency, io));
  return EXIT.wouldReject;
}

/** A command makes one edit: which of the edits it was need not be said. */
export const editProblemText = ({
  path,
  message,
}: {
  readonly path: readonly (string | number)[];
  readonly message: string;
}): string => problemText({ path: path[0] === 'edits' && path.length > 2 ? path.slice(2) : path, message });

function liveJson({ outcome, set, edit, atMs, rows }: Exclude<Edited, { outcome: 'needs_approval' }>) {
  const pointer = set === undefined ? undefined : { set, edit, atMs };
  return outcome === 'live' ? { outcome, pointer, rows } : { outcome, pointer };
}

function editedText(body: Edited, currency: string, io: TerminalIo): string {
  const paint = paintWhen(io.colours);
  const rows = changeRowsText(body.rows, currency, io.columns, paint);
  if (body.outcome === 'needs_approval') {
    const { request, who } = body;
    return `Nothing was changed yet.\n${rows}Request ${request.id} waits for somebody else, who is ${who}: tollgate budget approve ${request.id}\n`;
  }
  if (body.outcome === 'unchanged') return 'It is so already; nothing was written.\n';
  return `${rows}${paint.good('live')}  set ${body.set}, edit ${body.edit}\n`;
}

function refusalText(
  { error, denied, rows = [], lockout = [] }: Refusal['refused'],
  currency: string,
  io: TerminalIo,
) {
  const paint: Paint = paintWhen(io.colours);
  const isToConfirm = error.code === 'needs_confirmation';
  const why = denied?.map(
    ({ row, sentence }) =>
      `${printable(row.path ?? row.subject)} ${printable(row.limit)} ${row.field}: ${sentence}\n`,
  );
  return [
    isToConfirm
      ? 'Nothing was changed yet. Say --confirm if this is meant:\n'
      : `${paint.bad('Refused')}, nothing was changed:\n`,
    rows.length === 0 ? '' : changeRowsText(rows, currency, io.columns, paint),
    ...lockout.map((each) => `${printable(each)}\n`),
    ...(why ?? (isToConfirm ? [] : [`${error.message} ${error.remedy}\n`])),
  ].join('');
}

interface StaleChange {
  readonly live: SetView | undefined;
  /** The effect of the edits; undefined: their base cannot be read any more. */
  readonly mine: readonly ChangeRow[] | undefined;
  readonly theirs: readonly ChangeRow[] | undefined;
}

/** Both versions: what others did meanwhile, and what this would have done. */
export function staleText(
  { live, mine, theirs }: StaleChange,
  base: string | undefined,
  currency: string,
  io: TerminalIo,
): string {
  const paint = paintWhen(io.colours);
  const set = live === undefined ? '' : setText(live, rollupZone(io), paint);
  const head = `Nothing was changed: this is an edit of ${base === undefined ? 'no set' : `set ${base}`}, and another one is live.\n${set}`;
  if (mine === undefined)
    return `${head}What it was an edit of is gone or too old to compare with: begin again with what is live.\n`;
  const part = (title: string, changes: readonly ChangeRow[], none: string): string =>
    `${paint.strong(title)}\n${changes.length === 0 ? `${none}\n` : changeRowsText(changes, currency, io.columns, paint)}`;
  return [
    head,
    part('theirs', theirs ?? [], 'nothing about the same subjects'),
    part('mine', mine, 'nothing'),
    'Look at both, and make the edit again.\n',
  ].join('');
}
