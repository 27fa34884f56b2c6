import { Hono } from 'hono';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { HistoryPage } from '../../../core/limits/index.ts';
import type { SignInEnv, User } from '../../../core/signin/index.ts';
import { doneText, query, readWholeNumber } from '../asked.ts';
import { ConsolePage } from '../frame.tsx';
import { mayOpen } from '../page-access.ts';
import { type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { historyPart } from '../parts/history-part.tsx';
import { Done } from '../parts/layout.tsx';
import { subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import type { PageFormat } from '../parts/page-format.tsx';
import { unknownPlace } from '../problem-page.tsx';
import { editEntryPage } from './edit-entry-page.tsx';

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
