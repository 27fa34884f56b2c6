import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { writtenDay } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RequestRow } from '../../answers/limits/models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { DecideOutcome, RequestOutcome } from '../../core/limits/edit-outcomes.ts';
import { isDecided } from '../../core/limits/requests.ts';
import { whoMayText } from '../../core/limits/rights.ts';
import type { User } from '../../core/signin/model.ts';
import { byField, grantFormFields, REQUIRED, writtenValues } from './edit/forms.ts';
import {
  formatOf,
  type PageContext,
  type PageRoutes,
  type PagesDeps,
  query,
  readValues,
  send,
} from './page-deps.ts';
import { COUNT_STEP } from './parts/preview-part.tsx';
import { type Problem, REQUESTS, sendProblem, sendUnknown } from './problem-page.tsx';
import { askPage, requestsPage, showDecision } from './request-pages.tsx';

const LINK_CHARACTERS_MAX = 500;

const problem = (title: string, sentence: string, remedy: string): Problem => ({
  ...{ title, sentence, remedy, link: REQUESTS },
});

const FAULTS = {
  altered: [403, 'This link does not work', 'It is not as it was sent, or it is about another request.'],
  another: [403, 'This link is not yours', 'It was sent to finance, and you are not of finance.'],
  expired: [410, 'This link has expired', 'A link is good for a week.'],
  used: [409, 'Decided already', 'A link works once, and the request it is about has been decided.'],
  unchecked: [503, 'Not checked', 'This link could not be checked just now.'],
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
  return sendProblem(c, problem(title, sentence, 'See “Requests” for what waits for you.'), status);
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
  const { desk, read } = deps;

  app.get('/ask', async (c) => {
    const { user } = c.var;
    const subject = query(c, 'subject');
    if (subject === undefined) return c.redirect('/', 303);
    const view = await read.subject(subject, {}, user);
    if (view === undefined) return sendUnknown(c);
    const values = {
      limit: query(c, 'limit') ?? view.burnUp?.limit ?? '',
      from: writtenDay(deps.clock.nowMs(), view.zone),
      link: query(c, 'link', LINK_CHARACTERS_MAX) ?? '',
    };
    return send(c, askPage(view, values, formatOf(c, deps)));
  });

  app.post('/ask', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const view = await read.subject(values.subject ?? '', {}, user);
    if (view === undefined) return sendUnknown(c);
    const again = (problems: ReadonlyMap<string, string>, others: readonly string[] = []) =>
      send(c, askPage(view, values, formatOf(c, deps), problems, others), 422);
    const unclear = new Map(NEEDED.filter((name) => !values[name]).map((name) => [name, REQUIRED] as const));
    const wanted = writtenValues(values, {}, deps.policy.currency, unclear);
    if (unclear.size > 0) return again(unclear);
    const { subject = '', limit = '', amount = '', from = '', until = '', reason = '' } = wanted;
    const { ticket, link } = wanted;
    const grant = { subject, limit, amount, from, until, reason };
    const more = withoutAbsent({ ticket: ticket || undefined, link: link || undefined });
    const outcome = await desk.request({ ...grant, ...more }, actingUser(user));
    if (outcome.outcome === 'filed') return c.redirect('/requests?done=filed', 303);
    if (outcome.outcome === 'invalid') {
      const { problems, others } = byField(outcome.problems, grantFormFields(view.limits, view.zone));
      return again(problems, others);
    }
    return sendProblem(c, notFiled(outcome), outcome.outcome === 'forbidden' ? 403 : 409);
  });

  app.get('/requests', async (c) => {
    const done = DONE[query(c, 'done') ?? ''];
    return send(c, requestsPage(await read.requests(c.var.user), done, formatOf(c, deps)));
  });

  const rowOf = async (c: PageContext): Promise<RequestRow | undefined> =>
    (await read.requests(c.var.user)).find(({ id }) => id === c.req.param('id'));

  app.get('/requests/:id', async (c) => {
    const row = await rowOf(c);
    const link = query(c, 'link', LINK_CHARACTERS_MAX);
    const refused = await refusedLink(c, deps, row, link);
    if (refused !== undefined) return refused;
    return row?.mayDecide === true ? showDecision(c, deps, row, withoutAbsent({ link })) : sendUnknown(c);
  });

  app.post('/requests/:id', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const { verdict, note = '', link } = values;
    // Hidden requests cannot be decided.
    const row = await rowOf(c);
    const refused = await refusedLink(c, deps, row, link);
    if (refused !== undefined) return refused;
    if (row === undefined) return sendUnknown(c);
    if (values.step === COUNT_STEP && row.mayDecide) return showDecision(c, deps, row, values);
    if (verdict !== 'approve' && note === '')
      return sendProblem(c, problem('Not decided', NO_NOTE, 'The user who asked reads it.'), 422);
    const outcome = await desk.decide(
      row.id,
      verdict === 'approve' ? { verdict, ...(note !== '' && { note }) } : { verdict: 'decline', note },
      actingUser(user),
    );
    if (link)
      deps.log.info('approval link used', { request: row.id, outcome: outcome.outcome, user: user.id });
    if (outcome.outcome === 'approved' || outcome.outcome === 'declined')
      return c.redirect(`/requests?done=${outcome.outcome}`, 303);
    const [status, why] = whyNotDecided(outcome, user);
    return sendProblem(c, problem('Not decided', why, 'You changed nothing.'), status);
  });
};

const NEEDED = ['limit', 'amount', 'from', 'until', 'reason'];

const NO_NOTE = 'To decline a request you must say why.';

const DONE: Readonly<Record<string, string>> = {
  filed: 'Your request was filed. Users who may grant it see it here.',
  approved: 'Approved: an edit is in force, a grant from its first day on.',
  declined: 'Declined.',
};

const notFiled = (outcome: Exclude<RequestOutcome, { outcome: 'filed' | 'invalid' }>): Problem =>
  outcome.outcome === 'forbidden'
    ? problem(
        'Not yours to ask for',
        `To ask for more here you must be ${whoMayText(outcome.act, outcome.needs)}.`,
        'Ask a member of the group to file it.',
      )
    : problem(
        'Too many requests are waiting',
        `${outcome.max} ${outcome.whose === 'yours' ? 'of yours are' : 'are'} waiting already.`,
        'They must be decided or expire first.',
      );

type NotDecided = Exclude<DecideOutcome, { outcome: 'approved' | 'declined' }>;

function whyNotDecided(outcome: NotDecided, { username }: User): readonly [ContentfulStatusCode, string] {
  switch (outcome.outcome) {
    case 'unknown':
      return [404, 'There is no such request any more: requests are kept for 30 days.'];
    case 'decided':
      return [
        409,
        `${outcome.request.decidedBy ?? 'Another user'} was faster: it is ${outcome.request.state}.`,
      ];
    case 'forbidden': {
      const who = whoMayText(outcome.act, outcome.needs);
      const own = 'You asked for it yourself; another user must decide.';
      return [
        403,
        outcome.own ? own : `You are signed in as ${username}; to decide this you must be ${who}.`,
      ];
    }
    case 'invalid': {
      const problems = outcome.problems.map(({ message }) => message).join('; ');
      return [422, `It no longer fits: ${problems}. Decline it, or mend the limits first.`];
    }
    case 'stale':
      return [409, 'The limits it changes are others by now. Decline it, and have it asked for again.'];
    case 'busy':
      return [503, 'Others edited at the same time, again and again. Try again.'];
  }
}
