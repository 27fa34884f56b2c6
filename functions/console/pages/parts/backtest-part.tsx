import type { BacktestAnswer, BacktestSummary } from '../../../answers/limits/models.ts';
import type { LimitEdit } from '../../../core/limits/edit-model.ts';
import type { User } from '../../../core/signin/model.ts';
import type { PagesDeps } from '../page.ts';
import * as ui from './ui.ts';

/** The form that saves an edit; the count button sends its fields, too. */
export const SAVE_FORM = 'save';
export const COUNT_STEP = 'count';

export const countJobs = async (
  { read }: Pick<PagesDeps, 'read'>,
  edits: readonly LimitEdit[],
  base: string | undefined,
  { step, cursor }: ui.Values,
  user: User,
): Promise<BacktestAnswer | undefined> =>
  step === COUNT_STEP ? read.backtest(edits, base, user, cursor) : undefined;

/** Shows a button that counts jobs. The script of the page counts without a click and shows each answer here. Saving does not wait for it. */
export const backtestPart = (answer: BacktestAnswer | undefined): ui.Markup => (
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
      {ui.pageCount(jobs, 'job')} would have failed; {ui.number(wouldFailNow)} fail with the current limits;{' '}
      {ui.number(failed)} were rejected then.
      {wouldWait > 0 && <> {ui.pageCount(wouldWait, 'job')} would have waited, then run.</>}
    </>
  );
}
