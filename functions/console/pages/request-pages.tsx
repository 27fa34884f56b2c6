import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { readInstant } from '../../../policies/document/values.ts';
import { type Edge, edgeText, writtenDay } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { SubjectView } from '../../answers/groups/model.ts';
import type { BacktestAnswer, PreviewAnswer, RequestRow } from '../../answers/limits/models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { DecideOutcome, LimitEdit, RequestOutcome } from '../../core/limits/edit-model.ts';
import { whoMayText } from '../../core/limits/rights.ts';
import type { User } from '../../core/signin/model.ts';
import { byField, grantFormFields, REQUIRED, writtenValues } from './edit/forms.ts';
import { ConsolePage } from './frame.tsx';
import {
  formatOf,
  type PageContext,
  type PageRoutes,
  type PagesDeps,
  query,
  readValues,
  send,
} from './page-deps.ts';
import { distance, instant, leftOfText, limitWords, type PageFormat } from './parts/amounts.tsx';
import {
  type FieldProblems,
  field,
  hiddenFields,
  NO_PROBLEMS,
  problemList,
  type Values,
} from './parts/form-field.tsx';
import type { Markup } from './parts/layout.tsx';
import * as ui from './parts/layout.tsx';
import { COUNT_STEP, countedFor, LOCKOUT, previewPart, SAVE_FORM } from './parts/preview-part.tsx';
import { wantedText } from './parts/tables.tsx';
import { type Problem, REQUESTS, sendProblem, sendUnknown } from './problem-page.tsx';

const requestFacts = (row: RequestRow, format: PageFormat): Markup => {
  const { reason, limit, limitNow, ticket, link, expiresAtMs } = row;
  const left = limitNow ? `${limitWords(limitNow)}: ${leftOfText(limitNow, format)}` : <code>{limit}</code>;
  return (
    <>
      <p>{reason}</p>
      <ui.Facts
        of={[
          ['Counts', row.from !== undefined && spanText(row)],
          ['Limit', left],
          ['Ticket', ticket],
          ['From', link !== undefined && ui.outside(link, link)],
          ['Waits until', instant(expiresAtMs, format)],
        ]}
      />
    </>
  );
};

/** In the limit's zone, which is what its days are meant in; as it was written where the limit is gone. */
function spanText({ from = '', until = '', limitNow }: RequestRow): string {
  const dayText = (written: string, which: Edge): string => {
    const atMs = limitNow && readInstant(written, which, limitNow.zone);
    return limitNow === undefined || atMs === undefined ? written : edgeText(atMs, which, limitNow.zone);
  };
  return `${dayText(from, 'start')} to ${dayText(until, 'end')}`;
}

const OVER_SHOWN = 50;

function requestsPage(rows: readonly RequestRow[], done: string | undefined, format: PageFormat): Markup {
  const waiting = rows.filter(({ state, expiresAtMs }) => state === 'pending' && expiresAtMs > format.nowMs);
  const over = rows.filter((row) => !waiting.includes(row));
  return (
    <ConsolePage
      title="Requests"
      at="/requests"
      user={format.user}
      heading="Requests for more"
      about="Ask for more on the page of a group. A request is never decided by the user who made it."
    >
      <ui.Done text={done} />
      {waiting.length === 0 && <ui.Plain>No requests are waiting.</ui.Plain>}
      {waiting.map((row) => waitingCard(row, format))}
      {over.length > 0 && (
        <ui.Card id="over" title="Decided">
          <ol class="timeline">
            {over.slice(0, OVER_SHOWN).map((row) => (
              <li>{overText(row, format)}</li>
            ))}
          </ol>
        </ui.Card>
      )}
    </ConsolePage>
  );
}

function waitingCard(row: RequestRow, format: PageFormat): Markup {
  const { id, subject, path, mayDecide, own } = row;
  return (
    <article class="card" aria-labelledby={`r-${id}`}>
      <h2 id={`r-${id}`}>
        <span>
          {wantedText(row, format)} for {ui.subjectLink(subject, path)}
        </span>
        {ui.soft(`${row.requestedBy}, ${distance(row.requestedAtMs, format.nowMs)}`)}
      </h2>
      {requestFacts(row, format)}
      {mayDecide ? (
        <div class="actions">
          <a class="button main" href={`/requests/${id}`}>
            Look at it and decide{ui.hidden(` for ${path}`)}
          </a>
        </div>
      ) : (
        <p class="soft">
          {own ? 'You asked for it, so another user decides.' : 'You may not decide this one.'}
        </p>
      )}
    </article>
  );
}

function overText(row: RequestRow, format: PageFormat): Markup {
  const { decidedAtMs, decidedBy, note, state } = row;
  const outcome = state === 'pending' ? 'expired' : state;
  return (
    <>
      <span class={`tag ${state === 'approved' ? 'good' : ''}`}>{row.granted ? 'granted' : outcome}</span>{' '}
      <strong>{wantedText(row, format)}</strong> for {ui.subjectLink(row.subject, row.path)}: {row.reason}
      <p class="soft">
        asked by {row.requestedBy}
        {decidedBy !== undefined && `, decided by ${decidedBy}`}
        {decidedAtMs !== undefined && ` ${distance(decidedAtMs, format.nowMs)}`}
        {note !== undefined && `: ${note}`}
        {state === 'approved' && row.link !== undefined && (
          <> · {ui.outside(row.link, 'Retry the job in GitLab')}</>
        )}
      </p>
    </>
  );
}

function askPage(
  { path, subject, limits, zone }: SubjectView,
  values: Values,
  format: PageFormat,
  problems: FieldProblems = NO_PROBLEMS,
  others: readonly string[] = [],
): Markup {
  const link = { name: 'link', label: 'The job it is about', type: 'url', max: 500 } as const;
  const fields = [...grantFormFields(limits, zone), { ...link, hint: 'Its address in GitLab.' }];
  const back = ui.subjectHref(subject) ?? '/';
  return (
    <ConsolePage title={`Ask for more for ${path}`} at="/requests" user={format.user}>
      {problemList(problems, others, fields)}
      {limits.every((limit) => limit.amount === 'unlimited') ? (
        <ui.Plain>
          It has no limit of its own to add to; ask for those above it there. {ui.button(back, 'Back')}
        </ui.Plain>
      ) : (
        <ui.PostForm user={format.user} class="card" action="/ask">
          <ui.List of={limits.map((limit) => `${limitWords(limit)}: ${leftOfText(limit, format)}`)} />
          {hiddenFields({ subject })}
          {fields.map((each) => field(each, values, problems))}
          <div class="actions">
            <button class="main">Send the request</button>
            {ui.button(back, 'Cancel')}
          </div>
        </ui.PostForm>
      )}
    </ConsolePage>
  );
}

const CHANGED = {
  outcome: 'invalid',
  problems: [{ path: [], message: 'was changed meanwhile: decline it, and have it asked for again' }],
} as const;

async function editsOf(
  row: RequestRow,
  { desk }: PagesDeps,
): Promise<{ readonly edits: readonly LimitEdit[]; readonly stale: boolean }> {
  if (row.edit !== undefined) return (await desk.requested(row.id)) ?? { edits: [], stale: true };
  const { subject, limit, amount, from, until, reason, ticket } = row;
  const grant = { kind: 'grant', subject, limit, amount, from, until, reason } as const;
  return { edits: [{ ...grant, ...withoutAbsent({ ticket }) }], stale: false };
}

/** The same preview as of an edit that gives the grant: approving it is one. */
async function showDecision(
  c: PageContext,
  deps: PagesDeps,
  row: RequestRow,
  values: Values,
): Promise<Response> {
  const format = formatOf(c, deps);
  const { edits, stale } = await editsOf(row, deps);
  if (stale) return send(c, decidePage(row, values, CHANGED, format));
  const base = (await deps.desk.live())?.pointer.set;
  const preview = await deps.read.preview(edits, base, c.var.user);
  if (preview.outcome === 'unknown_subject') return sendUnknown(c);
  // The decision itself settles whose name stands on the grant.
  const isNamed = ({ field }: { readonly field: string }): boolean =>
    field !== 'by' && !field.endsWith('by_user');
  const shown = preview.outcome === 'valid' ? { ...preview, rows: preview.rows.filter(isNamed) } : preview;
  const exact = await countedFor(deps, edits, base, values, c.var.user);
  return send(c, decidePage(row, values, shown, format, exact));
}

type Decidable = Exclude<PreviewAnswer, { outcome: 'unknown_subject' }> | typeof CHANGED;

/** @param values - `note`, and `link`: the signed link of the visit */
function decidePage(
  row: RequestRow,
  values: Values,
  preview: Decidable,
  format: PageFormat,
  exact?: BacktestAnswer,
): Markup {
  const wanted = `${wantedText(row, format)} for ${row.path}`;
  return (
    <ConsolePage
      title={`Decide: ${wanted}`}
      at="/requests"
      user={format.user}
      heading={wanted}
      crumbs={[<a href="/requests">Requests</a>]}
      about={`Asked for by ${row.requestedBy}. Look at what it does, then decide.`}
    >
      <ui.Card id="asked" title="Request">
        {requestFacts(row, format)}
      </ui.Card>
      {preview.outcome === 'valid' ? (
        <>
          {previewPart({ ...preview, needsApproval: [] }, format, exact)}
          {preview.lockout.length > 0 && (
            <ui.Note tone="bad" lines={preview.lockout}>
              <strong>{LOCKOUT}</strong>
            </ui.Note>
          )}
        </>
      ) : (
        <ui.Note tone="bad" role="alert" lines={preview.problems.map(({ message }) => message)}>
          <strong>It no longer fits the limits.</strong>
        </ui.Note>
      )}
      <ui.PostForm user={format.user} class="card" id={SAVE_FORM} action={`/requests/${row.id}`}>
        {values.link !== undefined && hiddenFields({ link: values.link })}
        {field({ name: 'note', label: 'Note', max: 500, hint: 'Required to decline.' }, values)}
        <div class="actions">
          <button class="main" name="verdict" value="approve" disabled={preview.outcome === 'invalid'}>
            Approve
          </button>
          <button class="danger" name="verdict" value="decline">
            Decline
          </button>
          {ui.button('/requests', 'Cancel')}
        </div>
      </ui.PostForm>
    </ConsolePage>
  );
}

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
    return row !== undefined && row.state !== 'pending' ? 'used' : undefined;
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
    return sendProblem(c, notFiled(outcome), outcome.outcome === 'forbidden' ? 403 : 429);
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
