import stringWidth from 'string-width';
import type { ChangeRow, PreviewAnswer } from '../../../functions/answers/limits/models.ts';
import { poolText } from '../../../functions/answers/status/texts.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { edgeText } from '../../../policies/text/edge-text.ts';
import { amountText } from '../../../policies/unit-texts.ts';
import { DocumentError, EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { printable, type Screen, screenOf, wrapped } from '../../terminal/table.ts';
import { type ApiAnswer, type EditAnswer, readSetView } from '../api/answers.ts';
import { rollupZone } from '../ledger-flags.ts';
import { type SetView, setText } from '../limits/set-view.ts';
import { shadowCount } from '../report/shadow-words.ts';
import type { countedJobs } from './edits.ts';

const POOLS_SHOWN = 40;

type Terminal = Pick<TerminalIo, 'colours' | 'columns'>;

export function changeRowsText(rows: readonly ChangeRow[], currency: string, io: Terminal): string {
  const screen = screenOf(io);
  const nameOf = ({ about, subject, limit, id, whole }: ChangeRow): string =>
    [whole, about, subject, limit, id].join('\n');
  const lines = [...Map.groupBy(rows, (row) => (row.whole === undefined ? row : nameOf(row))).values()];
  const shown = lines.map((line) => {
    const [row] = line as [ChangeRow];
    return [
      paintedEffect(line, screen),
      printable(row.path ?? row.subject),
      printable(row.about === 'limit' ? row.limit : `${row.about} ${row.id ?? row.limit}`),
      row.whole ?? row.field,
      row.whole === undefined
        ? amountDifferenceText(row, currency)
        : line.map((each) => `${each.field} ${valueText(each.to ?? each.from, each, currency)}`).join(', '),
    ];
  });
  // A single row is never cut off: until when a freeze holds stands at the end of its line.
  const only = shown.length === 1 ? (shown[0]?.join('  ') ?? '') : '';
  if (stringWidth(only) > io.columns) return `${wrapped(only, io.columns, '  ')}\n`;
  return screen.firstRows([{}, {}, {}, {}, {}], shown);
}

function paintedEffect(line: readonly ChangeRow[], screen: Screen): string {
  const effects = new Set(line.map(({ effect }) => effect));
  if (effects.has('loosens')) return screen.warn('loosens');
  return effects.has('tightens') ? screen.good('tightens') : screen.dim('changes');
}

export const amountDifferenceText = (row: ChangeRow, currency: string): string =>
  `${valueText(row.from, row, currency)} → ${valueText(row.to, row, currency)}`;

function valueText(value: ChangeRow['from'], row: ChangeRow, currency: string): string {
  const { unit, field, zone = 'UTC' } = row;
  if (value === null) return 'nothing';
  if (typeof value === 'number' && unit !== undefined) return amountText(value, unit, currency);
  const atMs = field === 'from' || field === 'until' ? readInstant(String(value), 'start') : undefined;
  if (atMs !== undefined) return edgeText(atMs, field === 'from' ? 'start' : 'end', zone);
  return printable(String(value));
}

export interface OutcomeFormat {
  readonly currency: string;
  readonly json: boolean;
  readonly io: TerminalIo;
}

type Edited = Extract<EditAnswer, { ok: true }>['body'];
type Refusal = Extract<ApiAnswer<never>, { ok: false }>;

export function printOutcome(answer: EditAnswer, base: string | undefined, format: OutcomeFormat): ExitCode {
  if (!answer.ok) return printRefusal(answer, base, format);
  const { body } = answer;
  const { json, io } = format;
  const isDone = body.outcome !== 'needs_approval';
  if (json) io.out(`${JSON.stringify(isDone ? liveJson(body) : body)}\n`);
  else if (isDone) io.out(editedText(body, format));
  else io.err(editedText(body, format));
  return isDone ? EXIT.ok : EXIT.wouldReject;
}

export function printRefusal(
  { status, refused }: Refusal,
  base: string | undefined,
  format: OutcomeFormat,
): ExitCode {
  const { error, problems, live, mine = null, theirs = null } = refused;
  const { json, io } = format;
  if (problems !== undefined) throw new DocumentError(problems.map(editProblemText));
  if (status === 429) throw new Error(`${error.message} ${error.remedy}`);
  const isStale = error.code === 'stale';
  const both = {
    base: refused.base ?? base ?? null,
    live: (live && readSetView(live)) ?? null,
    mine,
    theirs,
  };
  if (json) io.out(`${JSON.stringify({ outcome: error.code, ...refused, ...(isStale && both) })}\n`);
  else io.err(isStale ? staleText(both, format) : refusalText(refused, format));
  return EXIT.wouldReject;
}

/** A command makes one edit: which of the edits it was need not be said. */
export const editProblemText = ({ path, message }: Parameters<typeof problemText>[0]): string =>
  problemText({ path: path[0] === 'edits' && path.length > 2 ? path.slice(2) : path, message });

function liveJson({ outcome, set, edit, atMs, rows }: Exclude<Edited, { outcome: 'needs_approval' }>) {
  const pointer = set === undefined ? undefined : { set, edit, atMs };
  return outcome === 'live' ? { outcome, pointer, rows } : { outcome, pointer };
}

function editedText(body: Edited, { currency, io }: OutcomeFormat): string {
  const rows = changeRowsText(body.rows, currency, io);
  if (body.outcome === 'needs_approval') {
    const { request, who } = body;
    return `Nothing was changed yet.\n${rows}Request ${request.id} waits for another user, who is ${who}: tollgate budget approve ${request.id}\n`;
  }
  if (body.outcome === 'unchanged') return 'It is so already; nothing was written.\n';
  return `${rows}${screenOf(io).good('live')}  set ${body.set}, edit ${body.edit}\n`;
}

function refusalText(
  { error, denied, rows = [], lockout = [] }: Refusal['refused'],
  { currency, io }: OutcomeFormat,
): string {
  const isToConfirm = error.code === 'needs_confirmation';
  const why = denied?.map(
    ({ row, sentence }) =>
      `${printable(row.path ?? row.subject)} ${printable(row.limit)} ${row.field}: ${sentence}\n`,
  );
  const refusal = `${screenOf(io).bad('Refused')}, nothing was changed:\n`;
  return [
    isToConfirm ? 'Nothing was changed yet. Say --confirm if this is meant:\n' : refusal,
    changeRowsText(rows, currency, io),
    ...lockout.map((each) => `${printable(each)}\n`),
    ...(why ?? (isToConfirm ? [] : [`${error.message} ${error.remedy}\n`])),
  ].join('');
}

interface BothVersions extends Readonly<Record<'mine' | 'theirs', readonly ChangeRow[] | null>> {
  readonly base: string | null;
  readonly live: SetView | null;
}

function staleText({ base, live, mine, theirs }: BothVersions, { currency, io }: OutcomeFormat): string {
  const screen = screenOf(io);
  const part = (title: string, changes: BothVersions['mine']): string =>
    `${screen.strong(title)}\n${changes?.length ? changeRowsText(changes, currency, io) : 'nothing about these subjects\n'}`;
  return [
    `Nothing was changed: this is an edit of ${base === null ? 'no set' : `set ${base}`}, and another one is live.\n`,
    live === null ? '' : setText(live, rollupZone(io), screen),
    mine === null ? 'The limit that it edited is gone.\n' : part('theirs', theirs) + part('mine', mine),
    'Look at both, and make the edit again.\n',
  ].join('');
}

type BacktestLine = NonNullable<ReturnType<typeof countedJobs>>;
type ValidPreview = Omit<Extract<PreviewAnswer, { outcome: 'valid' }>, 'effects'>;

export function printPreview(
  preview: ValidPreview,
  replayed: BacktestLine | undefined,
  set: { readonly base: string | undefined; readonly live: SetView | undefined },
  format: OutcomeFormat,
  more: object = {},
): ExitCode {
  const { stale, theirs = null, rows, oversubscription, needsConfirmation, needsApproval, lockout } = preview;
  const { currency, json, io } = format;
  const code = stale ? EXIT.wouldReject : EXIT.ok;
  const [base, live] = [set.base ?? null, set.live ?? null];
  if (json) {
    const shown = {
      ...{ outcome: 'dry_run', base, stale, rows, ...(stale && { live, theirs }) },
      ...{ oversubscription, needsConfirmation, needsApproval, lockout, ...more },
    };
    io.out(`${JSON.stringify({ ...shown, backtest: replayed ?? null })}\n`);
    return code;
  }
  const screen = screenOf(io);
  // For an outdated set, the effect is only useful together with the changes since.
  if (stale) {
    io.err(staleText({ base, live, mine: rows, theirs }, format));
    return code;
  }
  const pools = oversubscription.slice(0, POOLS_SHOWN).map((pool) => {
    const sums = poolText(pool, pool.amount, (whole) => amountText(whole, pool.unit, currency));
    return `pool: ${printable(pool.path ?? pool.subject)} ${printable(pool.limit)}: ${sums}\n`;
  });
  const lines = [
    rows.length === 0 ? 'No limit differs from the live set.\n' : changeRowsText(rows, currency, io),
    ...pools,
    replayed === undefined ? '' : `${backtestLine(replayed)}\n`,
    needsConfirmation.length > 0 &&
      screen.warn(
        `${needsConfirmation.length} of these change an amount more than threefold, or a mode to a milder one: --confirm is needed\n`,
      ),
    needsApproval.length > 0 &&
      screen.warn('another user must approve this: it gives more than 50 % on top\n'),
    ...lockout.map((each) => screen.bad(`${printable(each)}: --confirm is needed\n`)),
  ];
  io.out(`${lines.filter(Boolean).join('')}Nothing was written.\n`);
  return code;
}

function backtestLine(line: BacktestLine): string {
  const { days, jobsRead, jobs, wouldFail, wouldFailNow, wouldWait = 0, failed } = line;
  if (jobs === 0) return `last ${days} days: no jobs, so nothing can be said about them`;
  const waited = wouldWait === 0 ? '' : `, ${shadowCount(wouldWait)} would have waited for room`;
  return `last ${days} days: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed; ${shadowCount(wouldFailNow)} fail with the current limits; ${shadowCount(failed)} were rejected then${waited}; ${shadowCount(jobsRead)} records read`;
}
