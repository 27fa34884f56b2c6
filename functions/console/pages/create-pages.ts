import { Hono } from 'hono';
import type { OverviewAsked, OverviewSort } from '../../answers/view/overview.ts';
import type { SignInEnv } from '../../core/signin/user.ts';
import { unreadableStatus } from '../unreadable-request.ts';
import { query, readValues, wholeNumber } from './asked.ts';
import { countWaiting } from './count-waiting.ts';
import { editRoutes } from './edit/edit-routes.ts';
import { editEntryPage } from './history/edit-entry-page.tsx';
import { importRoutes } from './import/import-routes.ts';
import { findJobPage, jobPage } from './jobs/job-page.tsx';
import { breakGlassPage, historyPage, mePage } from './other-pages.tsx';
import { overviewPage } from './overview/overview-page.tsx';
import { mayOpen, routeOf, whoMayOpen } from './page-access.ts';
import { type PageContext, type PagesDeps, send, tellingOf } from './pages-deps.ts';
import { subjectOf } from './parts/links.tsx';
import { closedPage, noAnswer, problemPage, unknownPlace } from './problem-page.tsx';
import { requestRoutes } from './requests/request-routes.ts';
import { ownerMessage, shadowPage } from './shadow/shadow-page.tsx';
import { subjectPage } from './subject/subject-page.tsx';

/**
 * The console's pages. Mount them behind `requireUser` (which checks every form for its token) and `pageHeaders`, and
 * `createAssets` before them. They ask the read models for what somebody may see, and the desk to change it.
 */
export function createPages(deps: PagesDeps): Hono<SignInEnv> {
  const { read, log } = deps;
  const app = new Hono<SignInEnv>();

  app.onError((error, c) => {
    const { user } = c.var;
    const unreadable = unreadableStatus(error);
    if (unreadable !== undefined) return send(c, problemPage(user, UNREADABLE_FORM), unreadable);
    const unanswered = UNANSWERED.has(error.name);
    // The message of another's error could quote what it was given.
    log.error('page failed', { path: c.req.path, error: error.name });
    if (unanswered) return send(c, noAnswer(user, c.req.method === 'POST'), 503);
    return send(c, problemPage(user, BROKEN), 500);
  });

  app.use(async (c, next) => {
    const { user } = c.var;
    const route = routeOf(c);
    if (route === undefined || mayOpen(route, user.roles)) return next();
    log.warn('page denied', { route, user: user.id });
    return send(c, closedPage(user, whoMayOpen(route)), 403);
  });

  app.use(countWaiting(deps));

  app.get('/', async (c) => {
    const { user } = c.var;
    const asked = overviewAsked(c);
    const [overview, above] = await Promise.all([
      read.overview(asked, user),
      groupsAbove(c, deps, asked.under),
    ]);
    const owns = user.roles.ownedGroupIds.length > 0;
    if (above === undefined) return send(c, unknownPlace(user), 404);
    return send(c, overviewPage(user, { overview, asked, above, owns }, tellingOf(deps)));
  });

  app.get('/instance', (c) => showSubject(c, deps, 'instance'));
  app.get('/:folder{groups|projects|runner-classes}/:name', (c) => {
    const subject = subjectOf(c.req.param('folder'), c.req.param('name'));
    return subject === undefined ? send(c, unknownPlace(c.var.user), 404) : showSubject(c, deps, subject);
  });

  app.get('/jobs', async (c) => {
    const word = query(c, 'q', WORD_CHARACTERS_MAX);
    return word === undefined ? send(c, findJobPage(c.var.user, '', undefined)) : showJob(c, deps, word);
  });
  app.get('/jobs/:word', (c) => showJob(c, deps, c.req.param('word')));

  app.get('/shadow', async (c) => {
    const { user } = c.var;
    const days = wholeNumber(query(c, 'days')) ?? DAYS;
    const group = wholeNumber(query(c, 'group'));
    const cursor = query(c, 'cursor', CURSOR_CHARACTERS_MAX);
    const view = await read.shadow(
      {
        days: bounded(days),
        ...(group !== undefined && { group }),
        ...(cursor !== undefined && { cursor }),
        max: CARDS,
      },
      user,
    );
    const done = SENT[query(c, 'sent') ?? ''];
    const shown = {
      view,
      days: bounded(days),
      group,
      canTell: deps.tellOwner !== undefined,
      origin: deps.origin,
      done,
    };
    return send(c, shadowPage(user, shown, tellingOf(deps)));
  });
  app.post('/shadow/send', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const group = wholeNumber(values.group);
    const days = bounded(wholeNumber(values.days) ?? DAYS);
    const { rows } = await read.shadow({ days, ...(group !== undefined && { group }) }, user);
    const row = rows.find(({ subject }) => subject === `group/${group}`);
    if (row === undefined || deps.tellOwner === undefined) return send(c, unknownPlace(user), 404);
    const sent = await deps.tellOwner(ownerMessage(row, days, deps.origin, tellingOf(deps)));
    log.info('shadow report', { user: user.id, subject: row.subject, outcome: sent });
    return c.redirect(`/shadow?days=${days}&sent=${sent}`, 303);
  });

  app.get('/break-glass', async (c) => {
    const { user } = c.var;
    const may = user.roles.admin || user.roles.finance;
    return send(c, breakGlassPage(user, await read.breakGlasses(user), may, doneText(c), tellingOf(deps)));
  });

  app.get('/history', async (c) => {
    const subject = query(c, 'subject');
    const before = wholeNumber(query(c, 'before'));
    const history = await read.history(
      { ...(subject !== undefined && { subject }), ...(before !== undefined && { before }), max: ENTRIES },
      c.var.user,
    );
    return send(c, historyPage(c.var.user, history, subject, doneText(c), tellingOf(deps)));
  });

  app.get('/history/:edit', async (c) => {
    const { user } = c.var;
    const edit = wholeNumber(c.req.param('edit'));
    const entry = edit === undefined ? undefined : await read.edit(edit, user);
    if (entry === undefined) return send(c, unknownPlace(user), 404);
    return send(c, editEntryPage(user, entry, wholeNumber(query(c, 'from')) ?? 0, tellingOf(deps)));
  });

  app.get('/me', async (c) => send(c, mePage(c.var.user, await read.me(c.var.user))));

  app.route('/', editRoutes(deps));
  app.route('/', requestRoutes(deps));
  app.route('/', importRoutes(deps));
  // Not `notFound`: whoever mounts these pages has one of its own.
  app.all('*', (c) => send(c, unknownPlace(c.var.user), 404));
  return app;
}

const UNANSWERED: ReadonlySet<string> = new Set([
  'LimitsError',
  'LedgerError',
  'DirectoryError',
  'NotifyError',
]);

/** What became of a report. */
const SENT: Readonly<Record<string, string>> = {
  sent: 'Sent to the owner.',
  'told-before': 'Not sent: the owner was told of this group within the last hour.',
};

const UNREADABLE_FORM = {
  title: 'Not read',
  sentence: 'What was sent is no form that can be read, so nothing was changed.',
  remedy: 'Go back, load the page again and send it from there.',
} as const;
const BROKEN = {
  title: 'Failed',
  sentence: 'Something went wrong here, not in your browser.',
  remedy: 'Try again; if that does not help, tell whoever runs Tollgate.',
} as const;

const DAYS = 14;
const DAYS_MAX = 62;
/** A card is about a kilobyte, a line of the overview one and a half: a page stays below 100 KB. */
const CARDS = 40;
const ROWS = 50;
const ENTRIES = 30;
const WORD_CHARACTERS_MAX = 500;
const CURSOR_CHARACTERS_MAX = 1_000;

const bounded = (days: number): number => Math.min(DAYS_MAX, Math.max(1, days));

const SORTS: readonly OverviewSort[] = ['runs-out-first', 'spent', 'name'];

function overviewAsked(c: PageContext): OverviewAsked {
  const search = query(c, 'q');
  const sort = SORTS.find((each) => each === query(c, 'sort'));
  const under =
    wholeNumber(query(c, 'under')) ?? (query(c, 'view') === 'tree' ? ('roots' as const) : undefined);
  const cursor = query(c, 'cursor', CURSOR_CHARACTERS_MAX);
  return {
    ...(search !== undefined && { search }),
    ...(sort !== undefined && { sort }),
    // Who searches, searches everywhere.
    ...(under !== undefined && search === undefined && { under }),
    ...(query(c, 'mine') === '1' && { mine: true }),
    ...(cursor !== undefined && { cursor }),
    max: ROWS,
  };
}

/** The steps of the tree down to a group; undefined: it is not theirs to see. */
async function groupsAbove(c: PageContext, { read }: PagesDeps, under: OverviewAsked['under']) {
  if (typeof under !== 'number') return [];
  const view = await read.subject(`group/${under}`, {}, c.var.user);
  return (
    view &&
    [...view.above, view].map(({ subject, path }) => ({ id: Number(subject.slice('group/'.length)), path }))
  );
}

async function showSubject(c: PageContext, deps: PagesDeps, subject: string): Promise<Response> {
  const { user } = c.var;
  const limit = query(c, 'limit');
  const view = await deps.read.subject(subject, limit === undefined ? {} : { limit }, user);
  if (view === undefined) return send(c, unknownPlace(user), 404);
  return send(c, subjectPage(user, { view, done: doneText(c) }, tellingOf(deps)));
}

/** What the page before did. */
function doneText(c: PageContext): string | undefined {
  const saved = query(c, 'saved');
  if (saved === 'nothing') return 'Nothing was changed: it is like that already.';
  return wholeNumber(saved) === undefined
    ? undefined
    : `Saved as edit ${saved}. New jobs are decided by it within seconds.`;
}

async function showJob(c: PageContext, deps: PagesDeps, word: string): Promise<Response> {
  const { user } = c.var;
  const answer = await deps.read.job(word, user);
  switch (answer.outcome) {
    case 'found':
      return send(c, jobPage(user, answer.explanation, tellingOf(deps)));
    case 'unknown':
      return send(c, findJobPage(user, word, answer.sentence), 404);
    case 'unreadable':
      return send(c, findJobPage(user, word, answer.sentence), 422);
  }
}
