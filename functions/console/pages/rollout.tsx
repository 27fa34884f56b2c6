import type { Child } from 'hono/jsx';
import type { RolloutStep } from '../../../policies/rollout-step.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type {
  RolloutClassRow,
  RolloutForecastAnswer,
  RolloutRow,
  RolloutView,
} from '../../answers/rollout/model.ts';
import { rolloutNeedText } from '../../answers/rollout/rollout-moves.ts';
import type { ApplyOutcome } from '../../core/limits/edit-outcomes.ts';
import { NO_SET } from '../../core/limits/subject-text.ts';
import { moveRollout, reportRollout } from '../move-rollout.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, query, readReportDays, readValues, send } from './page.ts';
import { mayOpen } from './page-access.ts';
import * as ui from './parts/ui.ts';
import { respondToEdit, sendProblem, sendUnknown } from './problem-page.tsx';

const ROWS = 50;

export const rolloutPageRoutes: PageRoutes = (app, deps) => {
  const { read, log } = deps;

  app.get('/rollout', async (c) => {
    const input = { max: ROWS, ...withoutAbsent({ cursor: query.cursor(c) }) };
    return send(c, rolloutPage(await read.rollout(input, c.var.user)));
  });

  app.get('/rollout/step', async (c) => {
    const subject = query.text(c, 'subject') ?? '';
    const view = await read.rollout({ subjects: [subject] }, c.var.user);
    const [row] = view.rows;
    if (row === undefined) return sendUnknown(c);
    const forecast = await read.rolloutForecast([subject], c.var.user, query.cursor(c));
    const forms = stepForms(row, view.set, deps.notifyOwner !== undefined);
    return send(c, rolloutStepPage(row, forecast, forms));
  });

  app.post('/rollout/move', async (c) => {
    const { subject = '', direction, force, base = '', why = '' } = await readValues(c);
    const move =
      direction === 'back'
        ? ({ direction } as const)
        : ({ direction: 'next', force: force === 'yes' } as const);
    const by = { why, source: 'page', base: base === NO_SET ? undefined : base };
    const moving = await moveRollout(deps, move, [subject], c.var.user, by);
    if (moving.outcome !== 'planned') return sendUnknown(c);
    const { held, applied } = moving;
    if (applied !== undefined) return responded(c, applied);
    const missing = new Set(held.flatMap(({ classes }) => classes.flatMap(missingNeeds)));
    if (missing.size === 0)
      return notMoved(
        c,
        'There is no further step in this direction.',
        'The rollout lists the current steps.',
      );
    return notMoved(
      c,
      `Missing for the next step: ${[...missing].join('; ')}.`,
      'Wait until these requirements are met, or force the step. The log lists what was missing.',
    );
  });

  app.post('/rollout/report', async (c) => {
    const { user } = c.var;
    const { subject = '', informed, back, ...values } = await readValues(c);
    const days = readReportDays(values.days);
    const input = { why: 'shadow report', source: 'page', informed: informed === 'yes', days };
    const sent = await reportRollout(deps, [subject], user, input);
    if (sent.outcome === 'unknown_subject') return sendUnknown(c);
    const done = sent.view.reports[0]?.outcome;
    log.info('shadow report', { user: user.id, subject, outcome: done });
    const { applied } = sent;
    if (applied !== undefined && applied.outcome !== 'live' && applied.outcome !== 'unchanged')
      return responded(c, applied);
    const to = back === 'shadow' ? ui.address('/shadow', { days, done }) : ui.address('/rollout', { done });
    return c.redirect(to, 303);
  });

  const responded = (c: PageContext, outcome: ApplyOutcome): Promise<Response> =>
    respondToEdit(c, deps, outcome, {
      back: '/rollout',
      stale: () =>
        notMoved(c, 'Other users changed the limits since.', 'Open the group again, and move it from there.'),
      unconfirmed: () =>
        notMoved(
          c,
          'Jobs of the platform team would be rejected.',
          'Force the step to confirm this, or raise their limits first.',
        ),
      invalid: (problems) => {
        const sentence = problems.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
        return notMoved(c, sentence, 'Go back and correct it.');
      },
    });
};

const notMoved = (c: PageContext, sentence: string, remedy: string): Promise<Response> =>
  sendProblem(c, { title: 'Nothing was changed', sentence, remedy, link: ['/rollout', 'Open rollout'] }, 409);

function rolloutPage(view: RolloutView): ui.Markup {
  const { user } = ui.format();
  const stepOf = (row: RolloutRow, name: RolloutClassRow['class']): Child => {
    const found = row.classes.find((each) => each.class === name);
    return found && [stepTag(found.step), ' ', ui.soft(sinceText(found, row.subject))];
  };
  return (
    <ConsolePage
      title="Rollout"
      at="/rollout"
      about="Steps from recording to enforcing: shadow, reported to the owner, warn, enforce. A group without a step inherits that of the group above."
    >
      {view.rows.length === 0 ? (
        <ui.Plain>None of your groups has a step.</ui.Plain>
      ) : (
        <div class="card">
          <ui.Table
            label="Steps"
            columns={{
              Group: ({ subject, path }) => ui.subjectLink(subject, path),
              Cost: (row) => stepOf(row, 'cost'),
              Capacity: (row) => stepOf(row, 'capacity'),
              'Missing for the next step': { style: 'full', cell: ({ classes }) => missingText(classes) },
              [ui.DO]: {
                style: 'full',
                cell: ({ subject, path }) =>
                  mayOpen('GET /rollout/step', user.roles) &&
                  ui.button(ui.address('/rollout/step', { subject }), 'Open steps', ` of ${path}`),
              },
            }}
            rows={view.rows}
          />
          <ui.PageLinks next={view.next && ui.address('/rollout', { cursor: view.next })}>
            {ui.pageCount(view.total, 'row')}
          </ui.PageLinks>
        </div>
      )}
    </ConsolePage>
  );
}

const TONES: Readonly<Partial<Record<RolloutStep, string>>> = { warn: 'warn', enforce: 'good' };
const stepTag = (step: RolloutStep): ui.Markup => <span class={`tag ${TONES[step] ?? ''}`}>{step}</span>;

/** `as The whole GitLab, 12 days ago`. */
function sinceText({ from, fromPath, sinceMs }: RolloutClassRow, subject: string): string {
  const isInherited = from !== undefined && from !== subject;
  return [isInherited && `as ${fromPath ?? from}`, sinceMs !== undefined && ui.distance(sinceMs)]
    .filter(Boolean)
    .join(', ');
}

const missingNeeds = ({ needs }: RolloutClassRow): readonly string[] =>
  needs.filter(({ met }) => !met).map(rolloutNeedText);

function missingText(classes: readonly RolloutClassRow[]): ui.Markup | string {
  if (classes.every(({ next }) => next === undefined)) return '';
  const missing = new Set(classes.flatMap(missingNeeds));
  return missing.size === 0 ? <strong class="good-text">ready</strong> : [...missing].join('; ');
}

function rolloutStepPage(
  { subject, path, owner, contact, classes }: RolloutRow,
  forecast: RolloutForecastAnswer,
  forms: ui.Markup,
): ui.Markup {
  return (
    <ConsolePage
      title={`Rollout of ${path}`}
      at="/rollout"
      heading={path}
      crumbs={[<a href="/rollout">Rollout</a>]}
      about={
        <>
          {ui.subjectLink(subject, 'Limits')}. The owner is {owner}
          {contact !== undefined && <>, {ui.contactLink(contact)}</>}.
        </>
      }
    >
      {classes.map((each) => classCard(each, subject))}
      {forecastCard(forecast, subject)}
      {forms}
    </ConsolePage>
  );
}

const classCard = (row: RolloutClassRow, subject: string): ui.Markup => (
  <ui.Card
    id={`c-${row.class}`}
    title={
      <>
        {row.class} {stepTag(row.step)}
      </>
    }
    aside={sinceText(row, subject)}
  >
    <p>
      {ui.pageCount(row.jobs, 'job')} on {ui.pageCount(row.days, 'day')};{' '}
      {ui.pageCount(row.wouldFail, 'violation')} of this class recorded.
    </p>
    {row.next !== undefined && (
      <>
        <p>
          The next step is <strong>{row.next}</strong>
          {row.needs.length === 0 ? ', without requirements.' : ':'}
        </p>
        <ui.List
          of={row.needs.map((need) => (
            <>
              <span class={need.met ? 'tag good' : 'tag warn'}>{need.met ? 'met' : 'missing'}</span>{' '}
              {rolloutNeedText(need)}
            </>
          ))}
        />
      </>
    )}
  </ui.Card>
);

function forecastCard(forecast: RolloutForecastAnswer, subject: string): ui.Markup {
  if (forecast.outcome !== 'counted')
    return (
      <ui.Card id="forecast" title="Forecast if enforced now">
        <p>Too many counts within a minute. Load the page again in a moment.</p>
      </ui.Card>
    );
  const { jobs, wouldFail, days, daysCounted, rows, next } = forecast;
  return (
    <ui.Card id="forecast" title="Forecast if enforced now">
      <p>
        Of {ui.pageCount(jobs, 'job')} of the last {days} days,{' '}
        <strong class={wouldFail > 0 ? 'warn-text' : 'good-text'}>
          {wouldFail === 0 ? 'none' : ui.number(wouldFail)}
        </strong>{' '}
        would have failed in addition to those that fail already.
        {next !== undefined && (
          <>
            {' '}
            {daysCounted} of {days} days counted:{' '}
            <a href={ui.address('/rollout/step', { subject, cursor: next })}>count the remaining days</a>.
          </>
        )}
      </p>
      <ui.List
        of={rows.map(({ group, path, rule, code, limitLabel, jobs: count, examples: [example] }) => (
          <>
            {group === undefined ? path : ui.subjectLink(group, path)}: {ui.pageCount(count, 'job')} by{' '}
            <code>{rule}</code>, {code} {ui.soft(limitLabel)}
            {example && (
              <>
                {' '}
                such as <a href={example.url ?? `/jobs/${example.jobId}`}>{example.jobId}</a>
              </>
            )}
          </>
        ))}
      />
    </ui.Card>
  );
}

function stepForms(
  { subject, classes, owner }: RolloutRow,
  set: string | undefined,
  canNotify: boolean,
): ui.Markup {
  const isReady = classes.every(({ needs }) => needs.every(({ met }) => met));
  const moveForm = (direction: 'next' | 'back', title: string, rest: Child): ui.Markup => (
    <ui.PostForm class="card" action="/rollout/move">
      <h2>{title}</h2>
      {ui.hiddenFields({ subject, base: set ?? NO_SET, direction })}
      <div class="field">
        <label for={`f-${direction}`}>Reason for the move</label>
        <input id={`f-${direction}`} name="why" required maxlength={300} autocomplete="off" />
      </div>
      {rest}
    </ui.PostForm>
  );
  return (
    <>
      <ui.PostForm class="card" action="/rollout/report">
        <h2>Report to the owner</h2>
        {ui.hiddenFields({ subject, ...(!canNotify && { informed: 'yes' }) })}
        {!canNotify && (
          <p>No topic for owners is configured. Notify {owner} yourself, then record it here.</p>
        )}
        <button>{canNotify ? 'Send shadow report' : 'Record notification'}</button>
      </ui.PostForm>
      {mayOpen('POST /rollout/move', ui.format().user.roles) &&
        classes.some(({ next }) => next !== undefined) &&
        moveForm(
          'next',
          'Move to the next step',
          <>
            {!isReady && (
              <label class="check">
                <input type="checkbox" name="force" value="yes" /> Force the step although requirements are
                missing. The log lists them.
              </label>
            )}
            <button class="main">Move to the next step</button>
          </>,
        )}
      {ui.format().user.roles.admin &&
        moveForm('back', 'Move one step back', <button class="danger">Move one step back now</button>)}
    </>
  );
}
