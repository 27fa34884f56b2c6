/** Jobs that would have failed, counted from their records. */
import type { BacktestAnswer, BacktestSummary } from '../../../answers/backtest/model.ts';
import type { ConsoleReader } from '../../../answers/contract.ts';
import type { LimitEdit } from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { shortDayLabel } from './chart-scale.ts';
import type { Values } from './form-field.tsx';
import type { Markup } from './markup.ts';
import { distance, type PageFormat, pageCount, shortInstant } from './page-format.tsx';

/** The form that saves; its fields say what is to be counted, too. */
export const SAVE_FORM = 'save';
/** What its `step` says then. */
export const COUNT_STEP = 'count';

/** What the form asks to be counted; undefined: it does not. */
export const countedFor = async (
  { read }: { readonly read: Pick<ConsoleReader, 'backtest'> },
  edits: readonly LimitEdit[],
  base: string | undefined,
  { step }: Values,
  user: User,
): Promise<BacktestAnswer | undefined> =>
  step === COUNT_STEP ? read.backtest(edits, base, user) : undefined;

/**
 * Shows a button that asks for the count as long as there is no answer; the page's script asks by itself and puts the answer
 * here. Counting takes some seconds, for which saving does not wait.
 */
export const backtestPart = (answer: BacktestAnswer | undefined, telling: PageFormat): Markup => (
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
        answerText(answer, telling)
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

function answerText(answer: BacktestAnswer, telling: PageFormat): Markup {
  switch (answer.outcome) {
    case 'counted':
      return countedText(answer, telling);
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

function countedText(answer: BacktestSummary, telling: PageFormat): Markup {
  const { all, subjects, complete, jobsRead } = answer;
  const several = subjects.length > 1;
  const missed = subjects.reduce((sum, each) => sum + each.missed, 0);
  return (
    <>
      <p>
        {spanText(answer, telling)}: {figureText(all)}
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
      {missed > 0 && (
        <p class="soft">
          {pageCount(missed, 'job')} of these days {missed === 1 ? 'was' : 'were'} not found among the latest
          ids, and {missed === 1 ? 'is' : 'are'} not counted.
        </p>
      )}
      <p class="soft">Read {pageCount(jobsRead, 'record')} of these days.</p>
      {!complete && (
        <p class="soft">
          More than can be counted here: <code>npx tollgate budget set … --dry-run</code> counts all.
        </p>
      )}
    </>
  );
}

/** `The last 30 days`, or honestly less. */
function spanText({ fromMs, untilMs, fromDay, days }: BacktestSummary, telling: PageFormat): Markup {
  if (fromMs >= untilMs) return <>No day</>;
  const whole = Math.round((untilMs - fromMs) / DAY_MS);
  if (untilMs < telling.nowMs - HOUR_MS)
    return (
      <>
        From {shortInstant(fromMs, telling)} to {shortInstant(untilMs, telling)}
      </>
    );
  if (whole < 1)
    return (
      <>
        Since {shortInstant(fromMs, telling)} ({distance(fromMs, telling.nowMs)})
      </>
    );
  return (
    <>
      The last {pageCount(Math.min(days, Math.ceil((untilMs - fromMs) / DAY_MS)), 'day')}, from{' '}
      {shortDayLabel(fromDay)} on
    </>
  );
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

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
