import { writtenDay } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RequestRow } from '../../answers/limits/models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import { isDecided } from '../../core/limits/requests.ts';
import type { User } from '../../core/signin/model.ts';
import { notDecided, notFiled } from '../api/edits.ts';
import { byField, grantFormFields, REQUIRED, writtenValues } from './edit/forms.ts';
import { type PageContext, type PageRoutes, type PagesDeps, query, readValues, send } from './page.ts';
import { COUNT_STEP } from './parts/backtest-part.tsx';
import { type Problem, REQUESTS, sendProblem, sendUnknown } from './problem-page.tsx';
import { askPage, requestsPage, showDecision } from './request-pages.tsx';

const LINK_CHARACTERS_MAX = 500;

const problem = (title: string, sentence: string, remedy: string): Problem => ({
  ...{ title, sentence, remedy, link: REQUESTS },
});

const sendRefusal = (
  c: PageContext,
  title: string,
  refusal: ReturnType<typeof notFiled | typeof notDecided>,
) => sendProblem(c, problem(title, refusal.body.error.message, refusal.body.error.remedy), refusal.status);

const FAULTS = {
  altered: [403, 'This link does not work', 'The link was changed, or it belongs to another request.'],
  another: [403, 'This link is for finance', 'It was sent to finance, and you are not a member.'],
  expired: [410, 'This link has expired', 'A link is valid for a week.'],
  used: [409, 'Decided already', 'A link works once, and its request has been decided.'],
  unchecked: [503, 'Link not checked', 'This link cannot be checked at the moment.'],
} as const;

/**
 * Checks a visit by a signed link. A link gives no rights and decides nothing; a changed link is refused. Undefined: go on, there
 * is no link, or it is good. Each refusal is logged with who came, never with the link.
 */
async function refusedLink(
  c: PageContext,
  deps: PagesDeps,
  row: RequestRow | undefined,
  link: string | undefined,
): Promise<Response | undefined> {
  const { user } = c.var;
  const request = c.req.param('id') ?? '';
  const fault = link ? await faultOf(link, request, row, user, deps) : undefined;
  if (fault === undefined) return undefined;
  deps.log.warn('approval link refused', { request, fault, user: user.id });
  const [status, title, sentence] = FAULTS[fault];
  return sendProblem(
    c,
    problem(title, sentence, 'Requests that wait for you are listed under “Requests”.'),
    status,
  );
}

async function faultOf(
  link: string,
  request: string,
  row: RequestRow | undefined,
  { roles }: User,
  { checkApproval, log }: PagesDeps,
): Promise<keyof typeof FAULTS | undefined> {
  if (checkApproval === undefined) return 'altered';
  try {
    const read = await checkApproval(link, request);
    if (read.outcome !== 'valid') return read.outcome;
    if (read.role === 'finance' && !roles.finance && !roles.admin) return 'another';
    return row !== undefined && isDecided(row) ? 'used' : undefined;
  } catch (error) {
    log.error('approval key not read', { error: error instanceof Error ? error.name : '' });
    return 'unchecked';
  }
}

export const requestPageRoutes: PageRoutes = (app, deps) => {
  const { limitEdits, read } = deps;

  app.get('/ask', async (c) => {
    const { user } = c.var;
    const subject = query.text(c, 'subject');
    if (subject === undefined) return c.redirect('/', 303);
    const view = await read.subject(subject, {}, user);
    if (view === undefined) return sendUnknown(c);
    const values = {
      limit: query.text(c, 'limit') ?? view.burnUp?.limit ?? '',
      from: writtenDay(deps.clock.nowMs(), view.zone),
      link: query.text(c, 'link', LINK_CHARACTERS_MAX) ?? '',
    };
    return send(c, askPage(view, values));
  });

  app.post('/ask', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const view = await read.subject(values.subject ?? '', {}, user);
    if (view === undefined) return sendUnknown(c);
    const again = (problems: ReadonlyMap<string, string>, others: readonly string[] = []) =>
      send(c, askPage(view, values, problems, others), 422);
    const unclear = new Map(NEEDED.filter((name) => !values[name]).map((name) => [name, REQUIRED] as const));
    const written = writtenValues(values, {}, deps.policy.currency, unclear);
    if (unclear.size > 0) return again(unclear);
    const { subject = '', limit = '', amount = '', from = '', until = '', reason = '' } = written;
    const { ticket, link } = written;
    const grant = { subject, limit, amount, from, until, reason };
    const more = withoutAbsent({ ticket: ticket || undefined, link: link || undefined });
    const outcome = await limitEdits.request({ ...grant, ...more }, actingUser(user));
    if (outcome.outcome === 'filed') return c.redirect('/requests?done=filed', 303);
    if (outcome.outcome === 'invalid') {
      const { problems, others } = byField(outcome.problems, grantFormFields(view.limits, view.zone));
      return again(problems, others);
    }
    return sendRefusal(c, 'Not filed', notFiled(outcome));
  });

  app.get('/requests', async (c) => {
    return send(c, requestsPage(await read.requests(c.var.user)));
  });

  const rowOf = async (c: PageContext): Promise<RequestRow | undefined> =>
    (await read.requests(c.var.user)).find(({ id }) => id === c.req.param('id'));

  app.get('/requests/:id', async (c) => {
    const row = await rowOf(c);
    const link = query.text(c, 'link', LINK_CHARACTERS_MAX);
    const refused = await refusedLink(c, deps, row, link);
    if (refused !== undefined) return refused;
    return row?.mayDecide === true ? showDecision(c, deps, row, withoutAbsent({ link })) : sendUnknown(c);
  });

  app.post('/requests/:id', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const { decision, note = '', link } = values;
    // Hidden requests cannot be decided.
    const row = await rowOf(c);
    const refused = await refusedLink(c, deps, row, link);
    if (refused !== undefined) return refused;
    if (row === undefined) return sendUnknown(c);
    if (values.step === COUNT_STEP && row.mayDecide) return showDecision(c, deps, row, values);
    if (decision !== 'approve' && note === '')
      return sendProblem(c, problem('Not decided', NO_NOTE, 'The requester reads the note.'), 422);
    const outcome = await limitEdits.decide(
      row.id,
      decision === 'approve' ? { decision, ...(note !== '' && { note }) } : { decision: 'decline', note },
      actingUser(user),
    );
    if (link)
      deps.log.info('approval link used', { request: row.id, outcome: outcome.outcome, user: user.id });
    if (outcome.outcome === 'approved' || outcome.outcome === 'declined')
      return c.redirect(`/requests?done=${outcome.outcome}`, 303);
    return sendRefusal(c, 'Not decided', notDecided(outcome));
  });
};

const NEEDED = ['limit', 'amount', 'from', 'until', 'reason'];

const NO_NOTE = 'To decline a request, you must give a reason.';
