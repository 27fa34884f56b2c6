import type { Child } from 'hono/jsx';
import type { ConsoleReader } from '../../../answers/create-console-read.ts';
import type {
  BacktestAnswer,
  BacktestSummary,
  EditEffect,
  PreviewAnswer,
} from '../../../answers/limits/models.ts';
import { poolText } from '../../../answers/status/texts.ts';
import type { HistoryPage, LimitEdit, LogEntry, Oversubscription } from '../../../core/limits/edit-model.ts';
import type { User } from '../../../core/signin/model.ts';
import { ConsolePage, type Frame } from '../frame.tsx';
import * as ui from './ui.ts';

export type ValidPreview = Extract<PreviewAnswer, { outcome: 'valid' }>;

/** The form that saves; its fields say what is to be counted, too. */
export const SAVE_FORM = 'save';
export const COUNT_STEP = 'count';
const LINES_SHOWN = 10;

export const countedFor = async (
  { read }: { readonly read: Pick<ConsoleReader, 'backtest'> },
  edits: readonly LimitEdit[],
  base: string | undefined,
  { step, cursor }: ui.Values,
  user: User,
): Promise<BacktestAnswer | undefined> =>
  step === COUNT_STEP ? read.backtest(edits, base, user, cursor) : undefined;

export interface ReviewParts extends Omit<Frame, 'user' | 'actions'> {
  readonly preview: ValidPreview;
  readonly format: ui.PageFormat;
  readonly exact?: BacktestAnswer | undefined;
  /** The edit was refused because it must be confirmed. */
  readonly unconfirmed?: boolean;
  readonly notes?: Child;
  readonly action: string;
  readonly fields: Child;
  readonly save: string;
  readonly links: Child;
}

/** Shows the effect of an edit, and the form that saves it. */
export const ReviewPage = (parts: ReviewParts): ui.Markup => {
  const { preview, format, exact, unconfirmed, notes, action, fields, save, links, ...frame } = parts;
  return (
    <ConsolePage {...frame} user={format.user}>
      {unconfirmed && (
        <ui.Note tone="bad" role="alert">
          <strong>Not saved:</strong> this is a large change and needs to be confirmed.
        </ui.Note>
      )}
      {notes}
      {previewPart(preview, format, exact)}
      <ui.PostForm user={format.user} class="card" id={SAVE_FORM} action={action}>
        {fields}
        {confirmPart(preview, format)}
        <div class="actions">
          <button class="main" name="step" value="apply" disabled={preview.rows.length === 0}>
            {preview.needsApproval.length > 0 ? 'File request' : save}
          </button>
          {links}
        </div>
      </ui.PostForm>
    </ConsolePage>
  );
};

export const previewPart = (
  preview: ValidPreview,
  format: ui.PageFormat,
  exact?: BacktestAnswer,
): ui.Markup => (
  <>
    <ui.Card id="differs" title="Changes" aside={ui.pageCount(preview.rows.length, 'difference')}>
      {ui.changeTable(preview.rows, 'Changes', format)}
    </ui.Card>
    {preview.effects.length > 0 && (
      <ui.Card id="effects" title="Effect">
        <ui.Table label="Effect" columns={effectColumns(format)} rows={preview.effects} />
      </ui.Card>
    )}
    {preview.rows.length > 0 && backtestPart(exact)}
    {preview.oversubscription.length > 0 && (
      <ui.Note
        tone="warn"
        lines={preview.oversubscription.map((pool) => poolLine(pool, format))}
        max={LINES_SHOWN}
      >
        <strong>Overlapping budgets.</strong> Allowed: the groups share the rest in order of arrival.
      </ui.Note>
    )}
    {preview.needsApproval.length > 0 && (
      <ui.Note tone="warn">
        <strong>Another user must approve this:</strong> it lets jobs use over 50 % more than in the last 30
        days. Saving files a request.
      </ui.Note>
    )}
  </>
);

function confirmPart(
  { needsConfirmation, lockout }: Pick<ValidPreview, 'needsConfirmation' | 'lockout'>,
  format: ui.PageFormat,
): ui.Markup | '' {
  if (needsConfirmation.length + lockout.length === 0) return '';
  const linesOf = (isMode: boolean): readonly ui.Markup[] =>
    needsConfirmation
      .filter(({ field }) => (field === 'mode') === isMode)
      .map((row) => (
        <>
          {row.path ?? row.subject} <code>{row.limit}</code>: {ui.fieldText(row.from, row.unit, format)} →{' '}
          <strong>{ui.fieldText(row.to, row.unit, format)}</strong>
        </>
      ));
  const reasons: readonly (readonly [string, readonly Child[]])[] = [
    ['Jobs that are rejected now would be admitted:', linesOf(true)],
    ['These amounts change by more than a factor of three:', linesOf(false)],
    [LOCKOUT, lockout],
  ];
  return (
    <fieldset>
      <legend>Confirmation</legend>
      {reasons.map(
        ([text, lines]) =>
          lines.length > 0 && (
            <>
              <p>
                <strong class="warn-text">{text}</strong>
              </p>
              <ui.List of={lines} max={LINES_SHOWN} />
            </>
          ),
      )}
      <label class="check">
        <input type="checkbox" name="confirmed" value="yes" required />I confirm these changes
      </label>
    </fieldset>
  );
}

export const LOCKOUT = 'Jobs of the platform team would be rejected:';

function effectColumns(format: ui.PageFormat): readonly ui.Column<EditEffect>[] {
  const left = (limit: EditEffect['before']): Child => (limit ? ui.leftOfText(limit, format) : '–');
  const out = (limit: EditEffect['before']): Child => (limit ? ui.runsOut(limit, format.nowMs) : '–');
  return [
    {
      head: 'Limit',
      cell: ({ path, limit, before, after }) => {
        const known = after ?? before;
        return [path, ' ', ui.soft(known === undefined ? limit : ui.limitWords(known))];
      },
    },
    { head: 'Left now', cell: ({ before }) => left(before) },
    { head: 'Run-out now', cell: ({ before }) => out(before) },
    { head: 'Left after', cell: ({ after }) => left(after), tone: ({ after }) => ui.leftClass(after) },
    { head: 'Run-out after', cell: ({ after }) => out(after) },
  ];
}

const poolLine = (pool: Oversubscription, format: ui.PageFormat): ui.Markup => (
  <>
    {pool.path ?? pool.subject} <code>{pool.limit}</code>:{' '}
    {poolText(pool, pool.amount, (whole) => ui.pageAmount(whole, pool.unit, format))}
  </>
);

/** Shows a button that counts; the page's script counts by itself and puts each answer here. Saving waits for none. */
const backtestPart = (answer: BacktestAnswer | undefined): ui.Markup => (
  <section
    class="card"
    id="exact"
    aria-labelledby="exact-title"
    data-count={answer === undefined ? SAVE_FORM : undefined}
  >
    <h2 id="exact-title">Jobs that would have failed</h2>
    <div aria-live="polite">{answerText(answer)}</div>
  </section>
);

const countButton = (sentence: string, text = 'Count again'): ui.Markup => (
  <>
    <p>{sentence}</p>
    <div class="actions">
      <button form={SAVE_FORM} name="step" value={COUNT_STEP} formnovalidate>
        {text}
      </button>
    </div>
  </>
);

function answerText(answer: BacktestAnswer | undefined): ui.Markup {
  if (answer === undefined) return countButton('The count takes some seconds.', 'Count jobs');
  if (answer.outcome === 'too_often') {
    const wait = ui.pageCount(answer.retryAfterSeconds, 'second');
    return countButton(`Too many counts within a minute. Try again in ${wait}.`);
  }
  if (answer.outcome !== 'counted') return <p>These changes cannot be counted.</p>;
  const { all, subjects, days, daysCounted, fromDay, complete, jobsRead, next } = answer;
  if (!complete && next === undefined) return <p>No recent jobs are recorded, so none can be counted.</p>;
  const span = ui.pageCount(days, 'day');
  const read = `${ui.pageCount(jobsRead, 'record')} read.`;
  return (
    <>
      <p>
        {next === undefined ? `The last ${span}` : `${daysCounted} of ${span} counted`}, from{' '}
        {ui.shortDayLabel(fromDay)} on: {figureText(all)}
      </p>
      {subjects.length > 1 && (
        <ui.List
          of={subjects.map((each) => (
            <>
              <span class="path">{each.path}</span>: {figureText(each)}
            </>
          ))}
        />
      )}
      {next === undefined ? (
        <p class="soft">{read}</p>
      ) : (
        <>
          <input type="hidden" form={SAVE_FORM} name="cursor" value={next} />
          {countButton(read, 'Count remaining days')}
        </>
      )}
    </>
  );
}

function figureText(figures: BacktestSummary['all']): ui.Markup {
  const { jobs, wouldFail, wouldFailNow, wouldWait = 0, failed } = figures;
  if (jobs === 0) return <>no jobs.</>;
  return (
    <>
      <strong class={wouldFail === 0 ? 'good-text' : 'warn-text'}>{ui.number(wouldFail)}</strong> of{' '}
      {ui.pageCount(jobs, 'job')} would have failed; {ui.number(wouldFailNow)} with the current limits;{' '}
      {ui.number(failed)} failed.
      {wouldWait > 0 && <> {ui.pageCount(wouldWait, 'job')} would have waited, then run.</>}
    </>
  );
}

export function historyPart(
  history: HistoryPage,
  subject: string | undefined,
  format: ui.PageFormat,
): ui.Markup {
  if (history.entries.length === 0 && history.next === undefined) return <p class="soft">No edits yet.</p>;
  return (
    <>
      <ol class="timeline">
        {history.entries.map((entry) => (
          <li>{entryText(entry, format)}</li>
        ))}
      </ol>
      {history.next !== undefined && (
        <p>
          <a href={ui.address('/history', { subject, before: history.next })}>Show earlier edits</a>
        </p>
      )}
    </>
  );
}

function entryText(
  { edit, why, actor, source, atMs, rows, count }: LogEntry,
  format: ui.PageFormat,
): ui.Markup {
  const href = `/history/${edit}`;
  return (
    <>
      <strong>{why}</strong>
      <p class="soft">
        {actor} via {source}, {ui.shortInstant(atMs, format)} ({ui.distance(atMs, format.nowMs)}),{' '}
        <a href={href}>edit {edit}</a>
      </p>
      {rows !== undefined ? (
        ui.changeLines(rows, href, format)
      ) : (
        <p class="soft">
          {count === 0 ? 'The changes are unknown.' : <a href={href}>{ui.pageCount(count, 'difference')}</a>}
        </p>
      )}
    </>
  );
}
