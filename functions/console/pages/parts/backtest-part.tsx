/** Jobs that would have failed, counted from their records. */

import type { ConsoleReader } from '../../../answers/create-console-read.ts';
import type { BacktestAnswer, BacktestSummary } from '../../../answers/limits/edit-models.ts';
import type { LimitEdit } from '../../../core/limits/edit-model.ts';
import type { User } from '../../../core/signin/model.ts';
import { pageCount, shortDayLabel } from './amounts.tsx';
import type { Values } from './form-field.tsx';
import type { Markup } from './layout.tsx';

/** The form that saves; its fields say what is to be counted, too. */
export const SAVE_FORM = 'save';
/** Value of `step` for counting. */
export const COUNT_STEP = 'count';

/** Returns the requested count; undefined: none. */
export const countedFor = async (
  { read }: { readonly read: Pick<ConsoleReader, 'backtest'> },
  edits: readonly LimitEdit[],
  base: string | undefined,
  { step, cursor }: Values,
  user: User,
): Promise<BacktestAnswer | undefined> =>
  step === COUNT_STEP ? read.backtest(edits, base, user, cursor) : undefined;

/**
 * Shows a button that counts, or counts on; the page's script does so by itself and puts each answer here. A request counts
 * for some seconds, and saving waits for none.
 */
export const backtestPart = (answer: BacktestAnswer | undefined): Markup => (
  <section
    class="card"
    id="exact"
    aria-labelledby="exact-title"
    data-count={answer === undefined ? SAVE_FORM : undefined}
  >
    <h2 id="exact-title">Jobs that would have failed</h2>
    <div aria-live="polite">
      {answer === undefined ? (
        <>
          <p>Counted from the jobs themselves, which takes some seconds.</p>
          {countButton('Count exactly')}
        </>
      ) : (
        answerText(answer)
      )}
    </div>
  </section>
);

const countButton = (text: string): Markup => (
  <div class="actions">
    <button form={SAVE_FORM} name="step" value={COUNT_STEP} formnovalidate>
      {text}
    </button>
  </div>
);

function answerText(answer: BacktestAnswer): Markup {
  switch (answer.outcome) {
    case 'counted':
      return countedText(answer);
    case 'too_often':
      return (
        <>
          <p>Counted too often within a minute: again in {pageCount(answer.retryAfterSeconds, 'second')}.</p>
          {countButton('Count again')}
        </>
      );
    case 'invalid':
    case 'unknown_subject':
      return <p>It cannot be counted as it is.</p>;
  }
}

function countedText(answer: BacktestSummary): Markup {
  const { all, subjects, days, daysCounted, fromDay, complete, jobsRead, next } = answer;
  const several = subjects.length > 1;
  if (!complete && next === undefined) return <p>No recent job is known, so nothing can be counted.</p>;
  return (
    <>
      <p>
        {next === undefined ? (
          <>The last {pageCount(days, 'day')}</>
        ) : (
          <>
            {daysCounted} of {pageCount(days, 'day')} counted
          </>
        )}
        , from {shortDayLabel(fromDay)} on: {figureText(all)}
      </p>
      {several && (
        <ul>
          {subjects.map((each) => (
            <li>
              <span class="path">{each.path}</span>: {figureText(each)}
            </li>
          ))}
        </ul>
      )}
      <p class="soft">Read {pageCount(jobsRead, 'record')}.</p>
      {next !== undefined && (
        <>
          <input type="hidden" form={SAVE_FORM} name="cursor" value={next} />
          {countButton('Count the rest')}
        </>
      )}
    </>
  );
}

function figureText({
  jobs,
  wouldFail,
  wouldFailNow,
  wouldWait = 0,
  failed,
  unasked,
}: BacktestSummary['all']): Markup {
  if (jobs === 0) return <>no jobs, so nothing can be said about them.</>;
  return (
    <>
      <strong class={wouldFail === 0 ? 'good-text' : 'warn-text'}>{wouldFail.toLocaleString('en-US')}</strong>{' '}
      of {pageCount(jobs, 'job')} would have failed; {wouldFailNow.toLocaleString('en-US')} with the limits as
      they are, {failed.toLocaleString('en-US')} did.
      {wouldWait > 0 && <> {pageCount(wouldWait, 'job')} would have waited for room, and run.</>}
      {unasked > 0 && <> {pageCount(unasked, 'more was', 'more were')} never asked about, and not judged.</>}
    </>
  );
}
