import { Hono } from 'hono';
import type { RolloutStep } from '../../../policies/rollout-step.ts';
import type {
  RolloutClassRow,
  RolloutForecastAnswer,
  RolloutRow,
  RolloutView,
} from '../../answers/rollout/model.ts';
import { rolloutNeedText } from '../../answers/rollout/rollout-moves.ts';
import type { ApplyOutcome } from '../../core/limits/edit-model.ts';
import { NO_SET } from '../../core/limits/limit-reads.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { moveRollout, reportRollout } from '../move-rollout.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import {
  doneText,
  type PageContext,
  type PagesDeps,
  pageFormatOf,
  query,
  queryCursor,
  readReportDays,
  readValues,
  send,
} from './page-deps.ts';
import { daySpan, distance, type PageFormat, pageCount, percent, shortInstant } from './parts/amounts.tsx';
import {
  address,
  Card,
  Crumbs,
  contactLink,
  Done,
  type Markup,
  PageLinks,
  PostForm,
  subjectLink,
  Table,
} from './parts/layout.tsx';
import { forbiddenPage, type Problem, problemPage, unknownPlace } from './problem-page.tsx';

/** Rollout steps with requirements of the next. */
function rolloutPage(user: User, view: RolloutView, done: string | undefined, telling: PageFormat): Markup {
  const mayLook = mayOpen('GET /rollout/step', user.roles);
  return (
    <ConsolePage title="Rollout" at="/rollout" user={user}>
      <div class="head">
        <div>
          <h1>Rollout</h1>
          <p>
            From watching to enforcing: shadow, report to the owner, warn, enforce. What has no step of its
            own follows what is above it. Security rules are the policy’s and stand in no step.
          </p>
        </div>
      </div>
      <Done text={done} />
      {view.rows.length === 0 ? (
        <div class="card">
          <p>No group of yours has a step.</p>
        </div>
      ) : (
        <div class="card">
          <Table
            label="Steps"
            columns={['Group', 'Cost', 'Capacity', 'For the next step', ...(mayLook ? [''] : [])]}
          >
            <tbody>{view.rows.map((row) => line(row, mayLook, telling))}</tbody>
          </Table>
          <PageLinks next={view.next === undefined ? undefined : address('/rollout', { cursor: view.next })}>
            {pageCount(view.total, 'row')}; jobs since{' '}
            {daySpan({ fromDay: view.fromDay, toDay: view.fromDay })}
          </PageLinks>
        </div>
      )}
    </ConsolePage>
  );
}

const line = (row: RolloutRow, mayLook: boolean, telling: PageFormat): Markup => (
  <tr>
    <th scope="row" class="path">
      {subjectLink(row.subject, row.path)}
    </th>
    {row.classes.map((each) => (
      <td data-l={each.class}>
        {stepTag(each.step)} <small class="soft">{sinceText(each, row.subject, telling)}</small>
      </td>
    ))}
    <td class="full">{missingText(row.classes)}</td>
    {mayLook && (
      <td class="full">
        <a class="button" href={address('/rollout/step', { subject: row.subject })}>
          Look<span class="hidden"> at {row.path}</span>
        </a>
      </td>
    )}
  </tr>
);

const TAGS: Readonly<Record<RolloutStep, string>> = {
  off: 'tag',
  shadow: 'tag',
  reported: 'tag',
  warn: 'tag warn',
  enforce: 'tag good',
};

const stepTag = (step: RolloutStep): Markup => <span class={TAGS[step]}>{step}</span>;

/** `12 days ago`, `as The whole GitLab`. */
function sinceText(
  { from, fromPath, sinceMs }: RolloutClassRow,
  subject: string,
  { nowMs }: PageFormat,
): string {
  const since = sinceMs === undefined ? '' : distance(sinceMs, nowMs);
  if (from === undefined || from === subject) return since;
  return [`as ${fromPath ?? from}`, since].filter((part) => part !== '').join(', ');
}

function missingText(classes: readonly RolloutClassRow[]): Markup | string {
  if (classes.every(({ next }) => next === undefined)) return '';
  const missing = classes.flatMap(({ needs }) => needs.filter(({ met }) => !met).map(rolloutNeedText));
  if (missing.length === 0) return <strong class="good-text">ready</strong>;
  return [...new Set(missing)].join('; ');
}

interface StepShown {
  readonly view: RolloutView;
  readonly row: RolloutRow;
  readonly forecast: RolloutForecastAnswer;
  readonly canTell: boolean;
}

/** One group: what its next step needs, what enforcing would do now, and the ways on and back. */
function rolloutStepPage(
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

const ROWS = 50;

/** The way to enforcing, group by group. */
export function rolloutPageRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read, log } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/rollout', async (c) => {
    const { user } = c.var;
    const cursor = queryCursor(c);
    const view = await read.rollout({ max: ROWS, ...(cursor !== undefined && { cursor }) }, user);
    return send(
      c,
      rolloutPage(user, view, doneText(c) ?? REPORT_DONE[query(c, 'done') ?? ''], pageFormatOf(deps)),
    );
  });

  app.get('/rollout/step', async (c) => {
    const { user } = c.var;
    const subject = query(c, 'subject') ?? '';
    const view = await read.rollout({ subjects: [subject] }, user);
    const [row] = view.rows;
    if (row === undefined) return send(c, unknownPlace(user), 404);
    const forecast = await read.rolloutForecast([subject], user, queryCursor(c));
    const shown = { view, row, forecast, canTell: deps.tellOwner !== undefined };
    return send(c, rolloutStepPage(user, shown, pageFormatOf(deps)));
  });

  app.post('/rollout/move', async (c) => {
    const { user } = c.var;
    const { subject = '', direction, force, base = '', why = '' } = await readValues(c);
    const move =
      direction === 'back'
        ? ({ direction: 'back' } as const)
        : ({ direction: 'next', force: force === 'yes' } as const);
    const by = { why, source: 'page', base: base === NO_SET ? undefined : base };
    const moving = await moveRollout(deps, move, [subject], user, by);
    if (moving.outcome !== 'planned') return send(c, unknownPlace(user), 404);
    const { held, applied } = moving;
    if (applied === undefined) {
      const missing = held.flatMap(({ classes }) =>
        classes.flatMap(({ needs }) => needs.filter(({ met }) => !met)),
      );
      return send(c, problemPage(user, notMoved([...new Set(missing.map(rolloutNeedText))])), 409);
    }
    if (applied.outcome === 'live') return c.redirect(`/rollout?saved=${applied.pointer.edit}`, 303);
    return refused(c, applied);
  });

  app.post('/rollout/report', async (c) => {
    const { user } = c.var;
    const { subject = '', told, back, ...values } = await readValues(c);
    const days = readReportDays(values.days);
    const asked = { why: 'shadow report', source: 'page', told: told === 'yes', days };
    const sent = await reportRollout(deps, [subject], user, asked);
    if (sent.outcome === 'unknown_subject') return send(c, unknownPlace(user), 404);
    const [report] = sent.view.reports;
    log.info('shadow report', { user: user.id, subject, outcome: report?.outcome });
    if (sent.applied !== undefined && sent.applied.outcome !== 'live' && sent.applied.outcome !== 'unchanged')
      return refused(c, sent.applied);
    const done = report?.outcome;
    return c.redirect(
      back === 'shadow' ? address('/shadow', { days, done }) : address('/rollout', { done }),
      303,
    );
  });

  return app;
}

/** Results of sending a report. */
export const REPORT_DONE: Readonly<Record<string, string>> = {
  sent: 'The report is sent to the owner, and written down.',
  'told-before': 'The owner got the report within the last hour; that is written down.',
  'told-otherwise': 'Your notification of the owner is recorded.',
  'no-way': 'Nothing was sent: no topic of owners is set up. Notify the owner yourself, and record it.',
};

const notMoved = (missing: readonly string[]): Problem =>
  missing.length === 0
    ? {
        title: 'Nothing to do',
        sentence: 'There is no step left in this direction.',
        remedy: 'See the list.',
        link: BACK,
      }
    : {
        title: 'Not yet',
        sentence: `Nothing was changed: ${missing.join('; ')}.`,
        remedy: 'Wait for it, or go on all the same: the log will say what was missing.',
        link: BACK,
      };

function refused(c: PageContext, outcome: ApplyOutcome): Response | Promise<Response> {
  const { user } = c.var;
  if (outcome.outcome === 'forbidden')
    return send(c, forbiddenPage(user, outcome.denied, [], '/rollout'), 403);
  return send(c, problemPage(user, { ...problemOf(outcome), link: BACK }), 409);
}

const BACK = { href: '/rollout', text: 'To the rollout' };

function problemOf(outcome: ApplyOutcome): Problem {
  if (outcome.outcome === 'stale')
    return {
      title: 'Others were first',
      sentence: 'Others changed the limits meanwhile, so nothing was changed.',
      remedy: 'Look at the group again, and take the step from there.',
    };
  if (outcome.outcome === 'invalid')
    return {
      title: 'Not saved',
      sentence: outcome.problems.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '),
      remedy: 'Go back and correct it.',
    };
  return {
    title: 'Not saved',
    sentence: 'Jobs of the platform team would be rejected.',
    remedy: 'Go on all the same to confirm it, or give them room first.',
  };
}
