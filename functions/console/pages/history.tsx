import { Hono } from 'hono';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { HistoryPage, LogEntry } from '../../core/limits/edit-model.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { lastEdit } from '../last-edit.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import {
  doneText,
  type PageContext,
  type PagesDeps,
  pageFormatOf,
  query,
  readValues,
  readWholeNumber,
  send,
} from './page-deps.ts';
import { distance, instant, type PageFormat, pageCount } from './parts/amounts.tsx';
import { Card, Crumbs, Done, type Markup, PageLinks, PostForm, subjectLink } from './parts/layout.tsx';
import { confirmPart, historyPart, previewPart, type ValidPreview } from './parts/preview-part.tsx';
import { changeTable, ROWS_SHOWN } from './parts/tables.tsx';
import { approvalPage, forbiddenPage, type Problem, problemPage, unknownPlace } from './problem-page.tsx';

/** The log of edits, and one edit with all its differences. */
export function historyRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/history', async (c) => {
    const subject = query(c, 'subject');
    const before = readWholeNumber(query(c, 'before'));
    const history = await read.history({ ...withoutAbsent({ subject, before }), max: ENTRIES }, c.var.user);
    return send(c, historyPage(c.var.user, history, subject, doneText(c), pageFormatOf(deps)));
  });

  app.get('/history/:edit', async (c) => {
    const { user } = c.var;
    const edit = readWholeNumber(c.req.param('edit'));
    const [entry, live] = await Promise.all([
      edit === undefined ? undefined : read.edit(edit, user),
      deps.desk.live(),
    ]);
    if (entry === undefined) return send(c, unknownPlace(user), 404);
    const mayUndo = live?.pointer.edit === edit && mayOpen('GET /history/:edit/undo', user.roles);
    const first = readWholeNumber(query(c, 'from')) ?? 0;
    return send(c, editEntryPage(user, { entry, first, mayUndo }, pageFormatOf(deps)));
  });

  return app;
}

const ENTRIES = 30;

const historyPage = (
  user: User,
  history: HistoryPage,
  subject: string | undefined,
  done: string | undefined,
  telling: PageFormat,
): Markup => (
  <ConsolePage title="History" at="/history" user={user}>
    <div class="head">
      <div>
        <h1>History of edits</h1>
        <p>
          {subject === undefined ? (
            'Every change of a limit you may see, newest first.'
          ) : (
            <>
              Of {subjectLink(subject, subject)}. <a href="/history">All</a>
            </>
          )}
        </p>
      </div>
    </div>
    <Done text={done} />
    <section class="card" aria-label="Edits">
      {historyPart(history, subject, telling)}
    </section>
  </ConsolePage>
);

interface EntryShown {
  readonly entry: LogEntry;
  /** 0-based, of the first difference shown. */
  readonly first: number;
  /** It is the last edit, and theirs to take back. */
  readonly mayUndo: boolean;
}

/** One edit of the log with every difference, a hundred a page. */
function editEntryPage(user: User, { entry, first, mayUndo }: EntryShown, telling: PageFormat): Markup {
  const { edit, why, actor, source, atMs, count, rows } = entry;
  return (
    <ConsolePage title={`Edit ${edit}`} at="/history" user={user}>
      <div class="head">
        <div>
          <Crumbs>
            <li>
              <a href="/history">History of edits</a>
            </li>
          </Crumbs>
          <h1>Edit {edit}</h1>
          <p>{why}</p>
          <p class="soft">
            {actor} via {source}, {instant(atMs, telling)} ({distance(atMs, telling.nowMs)})
          </p>
        </div>
        {mayUndo && (
          <div class="actions">
            <a class="button" href={`/history/${edit}/undo`}>
              Take it back
            </a>
          </div>
        )}
      </div>
      <Card
        id="differs"
        title={
          <>
            What changed<small class="soft">{pageCount(count, 'difference')}</small>
          </>
        }
      >
        {rows === undefined ? (
          <p class="soft">The version before this edit could not be read, so its changes are unknown.</p>
        ) : (
          <>
            {changeTable(rows.slice(first, first + ROWS_SHOWN), 'What changed', telling)}
            {pages(edit, rows.length, first)}
          </>
        )}
      </Card>
    </ConsolePage>
  );
}

function pages(edit: number, total: number, first: number): Markup | '' {
  if (total <= ROWS_SHOWN) return '';
  const last = Math.min(total, first + ROWS_SHOWN);
  const to = (from: number): string => `/history/${edit}?from=${from}`;
  return (
    <PageLinks
      previous={first > 0 ? to(Math.max(0, first - ROWS_SHOWN)) : undefined}
      next={last < total ? to(last) : undefined}
    >
      {Math.min(first + 1, last).toLocaleString('en-US')}–{last.toLocaleString('en-US')} of{' '}
      {total.toLocaleString('en-US')}
    </PageLinks>
  );
}

const WHY_CHARACTERS_MAX = 500;

/** `GET /history/:edit/undo` shows what taking the last edit back would do, `POST` does it. */
export function undoRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { desk, read, log } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/history/:edit/undo', (c) => show(c));

  app.post('/history/:edit/undo', async (c) => {
    const { user } = c.var;
    const edit = readWholeNumber(c.req.param('edit')) ?? 0;
    const values = await readValues(c);
    const found = await lastEdit(edit, desk);
    if (found.outcome !== 'can_undo') return send(c, problemPage(user, PROBLEMS[found.outcome]), 409);
    const shown = await read.preview(found.edits, found.base, user);
    if (shown.outcome === 'unknown_subject') return send(c, unknownPlace(user), 404);
    const applied = await desk.apply(found.edits, {
      ...actingUser(user),
      why: values.why || undoneWhy(edit, found.why),
      source: 'page',
      base: found.base,
      confirmed: values.confirmed === 'yes',
    });
    switch (applied.outcome) {
      case 'live':
        log.info('edit taken back', { user: user.id, edit, by: applied.pointer.edit });
        return c.redirect(`/history?saved=${applied.pointer.edit}`, 303);
      case 'unchanged':
        return c.redirect('/history?saved=nothing', 303);
      case 'needs_confirmation':
        return show(c, true);
      case 'needs_approval':
        return send(c, approvalPage(user, applied, '/history'), 202);
      case 'forbidden':
        return send(c, forbiddenPage(user, applied.denied, [], '/history'), 403);
      case 'stale':
        return send(c, problemPage(user, PROBLEMS.not_last), 409);
      case 'invalid':
        return send(c, problemPage(user, PROBLEMS.invalid), 422);
    }
  });

  return app;

  async function show(c: PageContext, unconfirmed = false): Promise<Response> {
    const { user } = c.var;
    const edit = readWholeNumber(c.req.param('edit')) ?? 0;
    const found = await lastEdit(edit, desk);
    if (found.outcome !== 'can_undo') return send(c, problemPage(user, PROBLEMS[found.outcome]), 409);
    const preview = await read.preview(found.edits, found.base, user);
    if (preview.outcome === 'unknown_subject') return send(c, unknownPlace(user), 404);
    if (preview.outcome === 'invalid') return send(c, problemPage(user, PROBLEMS.invalid), 422);
    const page = undoPage(user, { edit, why: found.why, preview, unconfirmed }, pageFormatOf(deps));
    return send(c, page, unconfirmed ? 409 : 200);
  }
}

const undoneWhy = (edit: number, why: string): string =>
  `undoes edit ${edit}: ${why}`.slice(0, WHY_CHARACTERS_MAX);

const HISTORY = { href: '/history', text: 'To the history' };

const PROBLEMS: Readonly<Record<'not_last' | 'nothing_live' | 'gone' | 'invalid', Problem>> = {
  not_last: {
    title: 'Others edited since',
    sentence: 'Only the last edit is taken back, so nothing was changed.',
    remedy: 'Take back those that came later first, or edit the limit itself.',
    link: HISTORY,
  },
  nothing_live: {
    title: 'Nothing to take back',
    sentence: 'No limit was edited yet.',
    remedy: 'See the history.',
    link: HISTORY,
  },
  gone: {
    title: 'Too old to take back',
    sentence: 'The version before this edit was kept for 90 days and is gone.',
    remedy: 'Edit the limits themselves: the history still says what they were.',
    link: HISTORY,
  },
  invalid: {
    title: 'It cannot be taken back',
    sentence: 'The limits from before do not fit the rules that are in force now, so nothing was changed.',
    remedy: 'Edit the limits themselves.',
    link: HISTORY,
  },
};

interface UndoShown {
  readonly edit: number;
  readonly why: string;
  readonly preview: ValidPreview;
  readonly unconfirmed: boolean;
}

const undoPage = (
  user: User,
  { edit, why, preview, unconfirmed }: UndoShown,
  telling: PageFormat,
): Markup => (
  <ConsolePage title={`Take back edit ${edit}`} at="/history" user={user}>
    <div class="head">
      <div>
        <Crumbs>
          <li>
            <a href="/history">History of edits</a>
          </li>
          <li>
            <a href={`/history/${edit}`}>Edit {edit}</a>
          </li>
        </Crumbs>
        <h1>Take back edit {edit}</h1>
        <p>{why}</p>
      </div>
    </div>
    {unconfirmed && (
      <div class="note bad" role="alert">
        <p>
          <strong>Not taken back:</strong> this is a large change and needs to be confirmed.
        </p>
      </div>
    )}
    {previewPart(preview, telling)}
    <PostForm user={user} class="card" action={`/history/${edit}/undo`}>
      <div class="field">
        <label for="f-why">Why</label>
        <textarea id="f-why" name="why" rows={2} maxlength={WHY_CHARACTERS_MAX} required>
          {undoneWhy(edit, why)}
        </textarea>
      </div>
      {confirmPart(preview, telling)}
      <div class="actions">
        <button class="main">{preview.needsApproval.length > 0 ? 'File a request' : 'Take it back'}</button>
        <a class="button" href={`/history/${edit}`}>
          Cancel
        </a>
      </div>
    </PostForm>
  </ConsolePage>
);
