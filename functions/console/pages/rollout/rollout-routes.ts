import { Hono } from 'hono';
import { rolloutNeedText } from '../../../answers/rollout/rollout-moves.ts';
import { type ApplyOutcome, NO_SET } from '../../../core/limits/index.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { moveRollout, reportRollout } from '../../move-rollout.ts';
import { doneText, query, queryCursor, readReportDays, readValues } from '../asked.ts';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { address } from '../parts/links.tsx';
import { forbiddenPage, type Problem, problemPage, unknownPlace } from '../problem-page.tsx';
import { rolloutPage } from './rollout-page.tsx';
import { rolloutStepPage } from './rollout-step-page.tsx';

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
