import type { RolloutForecastAnswer, RolloutRow, RolloutView } from '../../../answers/rollout/model.ts';
import { rolloutNeedText } from '../../../answers/rollout/rollout-moves.ts';
import { NO_SET } from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { mayOpen } from '../page-access.ts';
import { Card, Crumbs, PostForm, Table } from '../parts/layout.tsx';
import { address, contactLink, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageCount, percent, shortInstant } from '../parts/page-format.tsx';
import { sinceText, stepTag } from './rollout-page.tsx';

interface StepShown {
  readonly view: RolloutView;
  readonly row: RolloutRow;
  readonly forecast: RolloutForecastAnswer;
  readonly canTell: boolean;
}

/** One group: what its next step needs, what enforcing would do now, and the ways on and back. */
export function rolloutStepPage(
  user: User,
  { view, row, forecast, canTell }: StepShown,
  telling: PageFormat,
): Markup {
  const { subject, path, owner, contact } = row;
  return (
    <ConsolePage title={`Rollout of ${path}`} at="/rollout" user={user}>
      <div class="head">
        <div>
          <Crumbs>
            <li>
              <a href="/rollout">Rollout</a>
            </li>
          </Crumbs>
          <h1>{path}</h1>
          <p>
            {subjectLink(subject, 'Its limits')}. The owner is {owner}
            {contact !== undefined && <>, {contactLink(contact)}</>}.
          </p>
        </div>
      </div>
      {row.classes.map((each) => (
        <Card
          id={`c-${each.class}`}
          title={
            <>
              <span>
                {each.class} {stepTag(each.step)}
              </span>
              <small class="soft">{sinceText(each, subject, telling)}</small>
            </>
          }
        >
          <p>
            {pageCount(each.jobs, 'job')} on {pageCount(each.days, 'day')}
            {each.wouldFail > 0 && each.step !== 'enforce' && (
              <>
                ; up to <strong class="warn-text">{pageCount(each.wouldFail, 'job')}</strong> (
                {percent(each.wouldFail, each.jobs)}) broke a rule of this class, as decisions recorded
              </>
            )}
            .
          </p>
          {each.next !== undefined && (
            <>
              <p>
                The next step is <strong>{each.next}</strong>
                {each.needs.length === 0 ? ', and needs nothing.' : ':'}
              </p>
              <ul>
                {each.needs.map((need) => (
                  <li>
                    <span class={need.met ? 'tag good' : 'tag warn'}>{need.met ? 'met' : 'missing'}</span>{' '}
                    {rolloutNeedText(need)}
                  </li>
                ))}
              </ul>
            </>
          )}
        </Card>
      ))}
      {forecastCard(forecast, row.subject, telling)}
      {stepForms(user, { view, row, canTell })}
    </ConsolePage>
  );
}

function forecastCard(forecast: RolloutForecastAnswer, subject: string, telling: PageFormat): Markup {
  if (forecast.outcome !== 'counted')
    return (
      <Card id="forecast" title="If enforced now">
        <p>Counted too often within a minute: load the page again in a moment.</p>
      </Card>
    );
  const { jobs, wouldFail, days, daysCounted, rows, jobsRead, next } = forecast;
  return (
    <Card id="forecast" title="If enforced now">
      <p>
        Of {pageCount(jobs, 'job')} of the last {days} days,{' '}
        <strong class={wouldFail > 0 ? 'warn-text' : 'good-text'}>
          {wouldFail === 0 ? 'none' : wouldFail.toLocaleString('en-US')}
        </strong>{' '}
        would have failed beyond those that fail already.
        {` Read ${pageCount(jobsRead, 'record')}.`}
        {next !== undefined && (
          <>
            {' '}
            {daysCounted} of {days} days counted:{' '}
            <a href={address('/rollout/step', { subject, cursor: next })}>count the rest</a>.
          </>
        )}
      </p>
      {rows.length > 0 && (
        <Table
          label="Jobs that would have failed"
          columns={['Group', 'Rule', 'Why', ['Jobs', 'n'], 'The latest']}
        >
          <tbody>
            {rows.map(({ group, path, rule, limitLabel, code, jobs: count, examples }) => (
              <tr>
                <th scope="row" class="path">
                  {group === undefined ? path : subjectLink(group, path)}
                </th>
                <td>
                  <code>{rule}</code>
                </td>
                <td class="full">
                  {code}
                  {limitLabel !== undefined && <small class="soft"> {limitLabel}</small>}
                </td>
                <td class="n" data-l="jobs">
                  {count.toLocaleString('en-US')}
                </td>
                <td class="full">
                  {examples.map(({ jobId, atMs, url }, index) => (
                    <>
                      {index > 0 && ', '}
                      <a href={url ?? `/jobs/${jobId}`}>{jobId}</a>{' '}
                      <small class="soft">{shortInstant(atMs, telling)}</small>
                    </>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

function stepForms(user: User, { view, row, canTell }: Omit<StepShown, 'forecast'>): Markup {
  const { subject, classes } = row;
  const base = view.set ?? NO_SET;
  const isReady = classes.every(({ needs }) => needs.every(({ met }) => met));
  const isOver = classes.every(({ next }) => next === undefined);
  const mayMove = mayOpen('POST /rollout/move', user.roles);
  const hidden = (direction: string): Markup => (
    <>
      <input type="hidden" name="subject" value={subject} />
      <input type="hidden" name="base" value={base} />
      <input type="hidden" name="direction" value={direction} />
    </>
  );
  const why = (id: string): Markup => (
    <div class="field">
      <label for={id}>Why</label>
      <input id={id} name="why" required maxlength={300} autocomplete="off" />
    </div>
  );
  return (
    <>
      <PostForm user={user} class="card" action="/rollout/report">
        <h2>Report to the owner</h2>
        <input type="hidden" name="subject" value={subject} />
        {!canTell && (
          <>
            <input type="hidden" name="told" value="yes" />
            <p>No topic of owners is set up here: tell {row.owner} yourself, and say so.</p>
          </>
        )}
        <button>{canTell ? 'Send the shadow report' : 'The owner is notified'}</button>
      </PostForm>
      {mayMove && !isOver && (
        <PostForm user={user} class="card" action="/rollout/move">
          <h2>One step on</h2>
          {hidden('next')}
          {why('f-next')}
          {!isReady && (
            <label class="check">
              <input type="checkbox" name="force" value="yes" /> Although something is missing: the log says
              what
            </label>
          )}
          <button class="main">One step on</button>
        </PostForm>
      )}
      {user.roles.admin && (
        <PostForm user={user} class="card" action="/rollout/move">
          <h2>One step back</h2>
          {hidden('back')}
          {why('f-back')}
          <button class="danger">One step back, immediately</button>
        </PostForm>
      )}
    </>
  );
}
