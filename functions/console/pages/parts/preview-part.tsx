import type { Child } from 'hono/jsx';
import type { ConsoleReader } from '../../../answers/create-console-read.ts';
import type {
  BacktestAnswer,
  BacktestSummary,
  EditEffect,
  PreviewAnswer,
} from '../../../answers/limits/edit-models.ts';
import { poolText } from '../../../answers/status/texts.ts';
import type { HistoryPage, LimitEdit, LogEntry, Oversubscription } from '../../../core/limits/edit-model.ts';
import type { ChangeRow } from '../../../core/limits/limit-changes.ts';
import type { User } from '../../../core/signin/model.ts';
import {
  distance,
  leftClass,
  leftText,
  limitAmountWords,
  limitWords,
  number,
  type PageFormat,
  pageAmount,
  pageCount,
  runsOut,
  shortDayLabel,
  shortInstant,
} from './amounts.tsx';
import type { Values } from './form-field.tsx';
import { address, Card, type Column, List, type Markup, Note, soft, Table } from './layout.tsx';
import { changeLines, changeTable, fieldText } from './tables.tsx';

export type ValidPreview = Extract<PreviewAnswer, { outcome: 'valid' }>;

/** The form that saves; its fields say what is to be counted, too. */
export const SAVE_FORM = 'save';
/** Value of `step` for counting. */
export const COUNT_STEP = 'count';
const LINES_SHOWN = 10;

/** Returns the requested count; undefined: none. */
export const countedFor = async (
  { read }: { readonly read: Pick<ConsoleReader, 'backtest'> },
  edits: readonly LimitEdit[],
  base: string | undefined,
  { step, cursor }: Values,
  user: User,
): Promise<BacktestAnswer | undefined> =>
  step === COUNT_STEP ? read.backtest(edits, base, user, cursor) : undefined;

/** Preview: changes, new run-out dates, jobs that would fail, pools. @param exact - the finished count */
export const previewPart = (preview: ValidPreview, format: PageFormat, exact?: BacktestAnswer): Markup => (
  <>
    <Card id="differs" title="Changes" aside={pageCount(preview.rows.length, 'difference')}>
      {sumOfAmounts(preview.rows, format)}
      {changeTable(preview.rows, 'Changes', format)}
    </Card>
    {preview.effects.length > 0 && (
      <Card id="effects" title="Effect">
        <Table
          label="Effect"
          caption="Limits before and after"
          columns={effectColumns(format)}
          rows={preview.effects.flatMap((effect) => [
            { effect, when: 'now', limit: effect.before },
            { effect, when: 'then', limit: effect.after },
          ])}
        />
      </Card>
    )}
    {preview.rows.length > 0 && backtestPart(exact)}
    {preview.oversubscription.length > 0 && (
      <Note
        tone="warn"
        lines={preview.oversubscription.slice(0, LINES_SHOWN).map((pool) => poolLine(pool, format))}
      >
        <strong>Given more than once.</strong> Allowed. The groups then share the rest: first come, first
        served.
      </Note>
    )}
    {preview.needsApproval.length > 0 && (
      <Note tone="warn">
        <strong>Another user must approve this:</strong> it lets jobs go more than half as far again as they
        could in the last thirty days. If you go on, a request is filed; nothing changes until then.
      </Note>
    )}
  </>
);

/** Sum of several amounts of one unit, before and after. */
function sumOfAmounts(rows: readonly ChangeRow[], format: PageFormat): Markup | '' {
  const amounts = rows.filter(({ about, field }) => about === 'limit' && field === 'amount');
  const unit = amounts[0]?.unit;
  const areLike = amounts.every(
    (row) => row.unit === unit && typeof row.from === 'number' && typeof row.to === 'number',
  );
  if (amounts.length < 2 || unit === undefined || !areLike) return '';
  const sum = (side: 'from' | 'to'): string =>
    pageAmount(
      amounts.reduce((all, row) => all + Number(row[side]), 0),
      unit,
      format,
    );
  return (
    <p>
      {pageCount(amounts.length, 'limit')}, together {sum('from')} → <strong>{sum('to')}</strong>
    </p>
  );
}

/** Facts to confirm, with a checkbox. */
export function confirmPart(
  { needsConfirmation, lockout }: Pick<ValidPreview, 'needsConfirmation' | 'lockout'>,
  format: PageFormat,
): Markup | '' {
  if (needsConfirmation.length + lockout.length === 0) return '';
  const reason = (text: Child, lines: readonly Child[]): Markup | false =>
    lines.length > 0 && (
      <>
        <p>{text}</p>
        <List of={lines.slice(0, LINES_SHOWN)} />
        {lines.length > LINES_SHOWN && <p>and {number(lines.length - LINES_SHOWN)} more</p>}
      </>
    );
  const linesOf = (isMode: boolean): readonly Markup[] =>
    needsConfirmation
      .filter(({ field }) => (field === 'mode') === isMode)
      .map((row) => (
        <>
          {row.path ?? row.subject} <code>{row.limit}</code>: {fieldText(row.from, row.unit, format)} →{' '}
          <strong>{fieldText(row.to, row.unit, format)}</strong>
        </>
      ));
  return (
    <fieldset>
      <legend>Please confirm</legend>
      {reason(
        <>
          <strong class="warn-text">Jobs pass that are rejected now.</strong> The mode becomes milder:
        </>,
        linesOf(true),
      )}
      {reason(
        <>
          <strong class="warn-text">More than three times as much, or less than a third.</strong> A slip of
          the finger looks like this:
        </>,
        linesOf(false),
      )}
      {reason(<strong class="bad-text">{LOCKOUT}</strong>, lockout)}
      <label class="check">
        <input type="checkbox" name="confirmed" value="yes" required />
        Yes, that is what I mean
      </label>
    </fieldset>
  );
}

export const LOCKOUT = 'Jobs of the platform team would be rejected:';

interface EffectRow {
  readonly effect: EditEffect;
  readonly when: string;
  readonly limit: EditEffect['before'];
}

function effectColumns(format: PageFormat): readonly Column<EffectRow>[] {
  const of = (told: (limit: NonNullable<EffectRow['limit']>) => Child) => (row: EffectRow) =>
    row.limit === undefined ? '–' : told(row.limit);
  return [
    {
      ...{ head: 'Limit', isName: true, style: 'path' },
      cell: ({ effect: { path, limit, before, after } }) => {
        const known = after ?? before;
        return (
          <>
            {path} {soft(known === undefined ? limit : limitWords(known))}
          </>
        );
      },
    },
    { head: 'When', cell: ({ when }) => when },
    { head: 'Amount', style: 'n', cell: of((limit) => limitAmountWords(limit, format)) },
    {
      ...{ head: 'Left', style: 'n', label: 'left', cell: of((limit) => leftText(limit, format)) },
      tone: ({ limit }) => (limit === undefined ? '' : leftClass(limit)),
    },
    { head: 'Runs out', label: 'runs out', cell: of((limit) => runsOut(limit, format.nowMs)) },
  ];
}

const poolLine = (pool: Oversubscription, format: PageFormat): Markup => (
  <>
    {pool.path ?? pool.subject} <code>{pool.limit}</code>:{' '}
    {poolText(pool, pool.amount, (whole) => pageAmount(whole, pool.unit, format))}
    {pool.larger.length > 0 && <>; larger than the pool, or unlimited: {pool.larger.join(', ')}</>}
  </>
);

/**
 * Shows a button that counts, or counts on; the page's script does so by itself and puts each answer here. A request counts
 * for some seconds, and saving waits for none.
 */
const backtestPart = (answer: BacktestAnswer | undefined): Markup => (
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

const countButton = (sentence: string, text: string): Markup => (
  <>
    <p>{sentence}</p>
    <div class="actions">
      <button form={SAVE_FORM} name="step" value={COUNT_STEP} formnovalidate>
        {text}
      </button>
    </div>
  </>
);

function answerText(answer: BacktestAnswer | undefined): Markup {
  if (answer === undefined)
    return countButton('Counted from the jobs themselves, which takes some seconds.', 'Count exactly');
  if (answer.outcome === 'too_often')
    return countButton(
      `Counted too often within a minute: again in ${pageCount(answer.retryAfterSeconds, 'second')}.`,
      'Count again',
    );
  if (answer.outcome !== 'counted') return <p>It cannot be counted as it is.</p>;
  const { all, subjects, days, daysCounted, fromDay, complete, jobsRead, next } = answer;
  if (!complete && next === undefined) return <p>No recent job is known, so nothing can be counted.</p>;
  const span = pageCount(days, 'day');
  const read = `Read ${pageCount(jobsRead, 'record')}.`;
  return (
    <>
      <p>
        {next === undefined ? `The last ${span}` : `${daysCounted} of ${span} counted`}, from{' '}
        {shortDayLabel(fromDay)} on: {figureText(all)}
      </p>
      {subjects.length > 1 && (
        <List
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
          {countButton(read, 'Count the rest')}
        </>
      )}
    </>
  );
}

function figureText(figures: BacktestSummary['all']): Markup {
  const { jobs, wouldFail, wouldFailNow, wouldWait = 0, failed, unasked } = figures;
  if (jobs === 0) return <>no jobs, so nothing can be said about them.</>;
  return (
    <>
      <strong class={wouldFail === 0 ? 'good-text' : 'warn-text'}>{number(wouldFail)}</strong> of{' '}
      {pageCount(jobs, 'job')} would have failed; {number(wouldFailNow)} with the limits as they are,{' '}
      {number(failed)} did.
      {wouldWait > 0 && <> {pageCount(wouldWait, 'job')} would have waited for room, and run.</>}
      {unasked > 0 && <> {pageCount(unasked, 'more was', 'more were')} never asked about, and not judged.</>}
    </>
  );
}

const ROWS_SHOWN = 6;

/** History of changes with author and reason; newest first. */
export function historyPart(history: HistoryPage, subject: string | undefined, format: PageFormat): Markup {
  if (history.entries.length === 0 && history.next === undefined)
    return <p class="soft">Nothing was changed yet.</p>;
  return (
    <>
      <ol class="timeline">
        {history.entries.map((entry) => (
          <li>{entryText(entry, format)}</li>
        ))}
      </ol>
      {history.next !== undefined && (
        <p>
          <a href={address('/history', { subject, before: history.next })}>Earlier changes</a>
        </p>
      )}
    </>
  );
}

function entryText({ edit, why, actor, source, atMs, rows, count }: LogEntry, format: PageFormat): Markup {
  const href = `/history/${edit}`;
  return (
    <>
      <strong>{why}</strong>
      <p class="soft">
        {actor} via {source}, {shortInstant(atMs, format)} ({distance(atMs, format.nowMs)}),{' '}
        <a href={href}>edit {edit}</a>
      </p>
      {rows !== undefined ? (
        changeLines(rows, format, { max: ROWS_SHOWN, moreHref: href })
      ) : (
        <p class="soft">
          {count === 0 ? 'Its changes are unknown.' : <a href={href}>{pageCount(count, 'difference')}</a>}
        </p>
      )}
    </>
  );
}
