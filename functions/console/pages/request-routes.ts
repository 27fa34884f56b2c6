/** Visits by signed links. A link gives no rights and decides nothing; a changed link is refused. */

import { Hono } from 'hono';
import { writtenDay } from '../../../policies/text/edge-text.ts';
import type { RequestRow } from '../../answers/limits/edit-models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { DecideOutcome, RequestOutcome } from '../../core/limits/edit-model.ts';
import { whoMayText } from '../../core/limits/rights.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { grantFormFields, writtenValues } from './edit/forms.ts';
import { byField } from './edit/read-edit.ts';
import { type PageContext, type PagesDeps, pageFormatOf, query, readValues, send } from './page-deps.ts';
import { COUNT_STEP } from './parts/backtest-part.tsx';
import type { Values } from './parts/form-field.tsx';
import type { Markup } from './parts/layout.tsx';
import { type Problem, problemPage, unknownPlace } from './problem-page.tsx';
import { askPage, chooseGroupPage, requestsPage, showDecision } from './request-pages.tsx';

const LINK_CHARACTERS_MAX = 500;

type Fault = 'altered' | 'expired' | 'used' | 'another' | 'unchecked';

/** Undefined: go on, there is no link, or it is good. Each refusal is logged with who came, never with the link. */
async function refusedLink(
  c: PageContext,
  deps: PagesDeps,
  row: RequestRow | undefined,
  link: string | undefined,
): Promise<Response | undefined> {
  if (!link) return undefined;
  const { user } = c.var;
  const request = c.req.param('id') ?? '';
  const fault = await faultOf(link, request, row, user.roles, deps);
  if (fault === undefined) return undefined;
  deps.log.warn('approval link refused', { request, fault, user: user.id });
  return send(c, problemPage(user, PROBLEMS[fault]), LINK_STATUS[fault]);
}

async function faultOf(
  link: string,
  request: string,
  row: RequestRow | undefined,
  roles: PageContext['var']['user']['roles'],
  { checkApproval, log }: PagesDeps,
): Promise<Fault | undefined> {
  if (checkApproval === undefined) return 'altered';
  let read: Awaited<ReturnType<typeof checkApproval>>;
  try {
    read = await checkApproval(link, request);
  } catch (error) {
    log.error('approval key not read', { error: error instanceof Error ? error.name : '' });
    return 'unchecked';
  }
  if (read.outcome !== 'valid') return read.outcome;
  if (read.role === 'finance' && !roles.finance && !roles.admin) return 'another';
  return row !== undefined && row.state !== 'pending' ? 'used' : undefined;
}

const LINK_STATUS = { altered: 403, another: 403, expired: 410, used: 409, unchecked: 503 } as const;
const LINK = { href: '/requests', text: 'To the requests' } as const;
const REMEDY = 'Requests that wait for you are under “Requests”.';

const PROBLEMS: Readonly<Record<Fault, Problem>> = {
  altered: {
    title: 'This link does not work',
    sentence: 'It is not as it was sent, or it is about another request.',
    remedy: REMEDY,
    link: LINK,
  },
  another: {
    title: 'This link is not yours',
    sentence: 'It was sent to finance, and you are not of finance.',
    remedy: REMEDY,
    link: LINK,
  },
  expired: {
    title: 'This link has expired',
    sentence: 'A link is good for a week.',
    remedy: REMEDY,
    link: LINK,
  },
  used: {
    title: 'Decided already',
    sentence: 'A link works once, and the request it is about has been decided.',
    remedy: 'Nothing was changed by you. What became of it stands under “Requests”.',
    link: LINK,
  },
  unchecked: {
    title: 'Not checked',
    sentence: 'This link could not be checked just now.',
    remedy: 'Try it again in a minute, or decide under “Requests”.',
    link: LINK,
  },
};

/** Requests for more, and decisions about them. */
export function requestPageRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { desk, read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/ask', async (c) => {
    const { user } = c.var;
    const subject = query(c, 'subject');
    if (subject === undefined) return send(c, chooseGroupPage(user, (await read.me(user)).groups));
    const view = await read.subject(subject, {}, user);
    if (view === undefined) return send(c, unknownPlace(user), 404);
    const values = {
      limit: query(c, 'limit') ?? view.burnUp?.limit ?? '',
      from: writtenDay(deps.clock.nowMs(), view.zone),
      link: query(c, 'link', 500) ?? '',
    };
    return send(c, askPage(user, { view, values, problems: new Map(), others: [] }, pageFormatOf(deps)));
  });

  app.post('/ask', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const view = await read.subject(values.subject ?? '', {}, user);
    if (view === undefined) return send(c, unknownPlace(user), 404);
    const missing = MISSING.filter(([name]) => !values[name]);
    const again = (problems: ReadonlyMap<string, string>, others: readonly string[]): Markup =>
      askPage(user, { view, values, problems, others }, pageFormatOf(deps));
    const unclear = new Map(missing);
    const wanted = writtenValues(values, {}, deps.policy.currency, unclear);
    if (unclear.size > 0) return send(c, again(unclear, []), 422);
    const outcome = await desk.request(asked(wanted), actingUser(user));
    if (outcome.outcome === 'filed') return c.redirect('/requests?done=filed', 303);
    if (outcome.outcome === 'invalid') {
      const { problems, others } = byField(outcome.problems, {
        fields: grantFormFields(view.limits, view.zone),
      });
      return send(c, again(problems, others), 422);
    }
    return send(c, problemPage(user, notFiled(outcome)), outcome.outcome === 'forbidden' ? 403 : 429);
  });

  app.get('/requests', async (c) => {
    const rows = await read.requests(c.var.user);
    return send(c, requestsPage(c.var.user, rows, DONE[query(c, 'done') ?? ''], pageFormatOf(deps)));
  });

  app.get('/requests/:id', async (c) => {
    const { user } = c.var;
    const row = (await read.requests(user)).find(({ id }) => id === c.req.param('id'));
    const link = query(c, 'link', LINK_CHARACTERS_MAX);
    const refused = await refusedLink(c, deps, row, link);
    if (refused !== undefined) return refused;
    return row?.mayDecide === true
      ? showDecision(c, deps, row, link === undefined ? {} : { link })
      : send(c, unknownPlace(user), 404);
  });

  app.post('/requests/:id', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const { verdict, note } = values;
    const by = actingUser(user);
    // Hidden requests cannot be decided.
    const row = (await read.requests(user)).find(({ id }) => id === c.req.param('id'));
    const refused = await refusedLink(c, deps, row, values.link);
    if (refused !== undefined) return refused;
    if (row === undefined) return send(c, unknownPlace(user), 404);
    if (values.step === COUNT_STEP && row.mayDecide) return showDecision(c, deps, row, values);
    if (verdict !== 'approve' && !note) return send(c, problemPage(user, NO_NOTE), 422);
    const outcome = await desk.decide(
      c.req.param('id'),
      verdict === 'approve'
        ? { verdict, ...(note ? { note } : {}) }
        : { verdict: 'decline', note: note ?? '' },
      by,
    );
    if (values.link)
      deps.log.info('approval link used', { request: row.id, outcome: outcome.outcome, user: user.id });
    if (outcome.outcome === 'approved' || outcome.outcome === 'declined')
      return c.redirect(`/requests?done=${outcome.outcome}`, 303);
    return send(c, problemPage(user, notDecided(outcome, user)), STATUS[outcome.outcome]);
  });

  return app;
}

const MISSING: readonly (readonly [string, string])[] = [
  ['limit', 'Choose the limit.'],
  ['amount', 'Say how much more.'],
  ['from', 'Say from when.'],
  ['until', 'Say until when.'],
  ['reason', 'Give a reason for the user who decides.'],
];

const asked = (values: Values) => ({
  subject: values.subject ?? '',
  limit: values.limit ?? '',
  amount: values.amount ?? '',
  from: values.from ?? '',
  until: values.until ?? '',
  reason: values.reason ?? '',
  ...(values.ticket ? { ticket: values.ticket } : {}),
  ...(values.link ? { link: values.link } : {}),
});

const DONE: Readonly<Record<string, string>> = {
  filed: 'Your request was filed. Users who may grant it see it here.',
  approved: 'Approved: an edit is in force, a grant from its first day on.',
  declined: 'Declined.',
};

const BACK = { href: '/requests', text: 'To the requests' } as const;

const NO_NOTE: Problem = {
  title: 'Not decided',
  sentence: 'To decline a request you must say why.',
  remedy: 'The user who asked reads it.',
  link: BACK,
};

function notFiled(outcome: Exclude<RequestOutcome, { outcome: 'filed' | 'invalid' }>): Problem {
  if (outcome.outcome === 'forbidden')
    return {
      title: 'Not yours to ask for',
      sentence: `To ask for more here you must be ${whoMayText(outcome.act, outcome.needs)}.`,
      remedy:
        'Ask a member of the group to file it; the page of your rejected job names the group and its contact.',
      link: BACK,
    };
  return {
    title: 'Too many requests are waiting',
    sentence: `${outcome.max} ${outcome.whose === 'yours' ? 'of yours are' : 'are'} waiting already.`,
    remedy: 'They must be decided or expire first.',
    link: BACK,
  };
}

type NotDecided = Exclude<DecideOutcome, { outcome: 'approved' | 'declined' }>;

const STATUS = { unknown: 404, decided: 409, forbidden: 403, invalid: 422, stale: 409, busy: 503 } as const;

function notDecided(outcome: NotDecided, user: User): Problem {
  switch (outcome.outcome) {
    case 'unknown':
      return {
        title: 'Gone',
        sentence: 'There is no such request any more.',
        remedy: 'Requests are kept for 30 days.',
        link: BACK,
      };
    case 'decided':
      return {
        title: 'Decided already',
        sentence: `${outcome.request.decidedBy ?? 'Another user'} was faster: it is ${outcome.request.state}.`,
        remedy: 'Nothing was changed by you.',
        link: BACK,
      };
    case 'forbidden':
      return {
        title: 'Not yours to decide',
        sentence: outcome.own
          ? 'You asked for it yourself; another user must decide.'
          : `You are signed in as ${user.username}; to decide this you must be ${whoMayText(outcome.act, outcome.needs)}.`,
        remedy: 'The request still waits.',
        link: BACK,
      };
    case 'invalid':
      return {
        title: 'No longer fits',
        sentence: outcome.problems.map(({ message }) => message).join('; '),
        remedy: 'The request still waits; decline it, or mend the limits first.',
        link: BACK,
      };
    case 'stale':
      return {
        title: 'Changed meanwhile',
        sentence: 'The limits it changes are others by now, so nothing was changed.',
        remedy: 'Decline it, and have it asked for again.',
        link: BACK,
      };
    case 'busy':
      return {
        title: 'Not decided',
        sentence: 'Others edited at the same time, again and again.',
        remedy: 'Try again; the request still waits.',
        link: BACK,
      };
  }
}
