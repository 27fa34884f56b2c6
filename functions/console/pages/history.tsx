import { withoutAbsent } from '../../../policies/without-absent.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { HistoryPage, LogEntry } from '../../core/limits/edit-model.ts';
import { lastEdit } from '../last-edit.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import {
  doneText,
  formatOf,
  type PageContext,
  type PageRoutes,
  query,
  queryNumber,
  readValues,
  readWholeNumber,
  send,
} from './page-deps.ts';
import { distance, instant, number, type PageFormat, pageCount } from './parts/amounts.tsx';
import { field } from './parts/form-field.tsx';
import {
  button,
  Card,
  Done,
  type Markup,
  NotConfirmed,
  PageLinks,
  PostForm,
  subjectLink,
} from './parts/layout.tsx';
import { confirmPart, historyPart, previewPart, type ValidPreview } from './parts/preview-part.tsx';
import { changeTable, ROWS_SHOWN } from './parts/tables.tsx';
import { type Problem, respondToEdit, sendProblem, sendUnknown } from './problem-page.tsx';

const ENTRIES = 30;
const WHY_CHARACTERS_MAX = 500;

export const historyRoutes: PageRoutes = (app, deps) => {
  const { desk, read } = deps;
  const editOf = (c: PageContext): number => readWholeNumber(c.req.param('edit')) ?? 0;

  app.get('/history', async (c) => {
    const subject = query(c, 'subject');
    const asked = { ...withoutAbsent({ subject, before: queryNumber(c, 'before') }), max: ENTRIES };
    const history = await read.history(asked, c.var.user);
    return send(c, historyPage(history, subject, doneText(c), formatOf(c, deps)));
  });

  app.get('/history/:edit', async (c) => {
    const edit = editOf(c);
    const [entry, live] = await Promise.all([read.edit(edit, c.var.user), desk.live()]);
    if (entry === undefined) return sendUnknown(c);
    const mayUndo = live?.pointer.edit === edit && mayOpen('GET /history/:edit/undo', c.var.user.roles);
    return send(c, editEntryPage(entry, queryNumber(c, 'from') ?? 0, mayUndo, formatOf(c, deps)));
  });

  const show = async (c: PageContext, unconfirmed = false): Promise<Response> => {
    const edit = editOf(c);
    const found = await lastEdit(edit, desk);
    if (found.outcome !== 'can_undo') return sendProblem(c, PROBLEMS[found.outcome], 409);
    const preview = await read.preview(found.edits, found.base, c.var.user);
    if (preview.outcome === 'unknown_subject') return sendUnknown(c);
    if (preview.outcome === 'invalid') return sendProblem(c, PROBLEMS.invalid, 422);
    const page = undoPage({ edit, why: found.why, preview, unconfirmed }, formatOf(c, deps));
    return send(c, page, unconfirmed ? 409 : 200);
  };
  app.get('/history/:edit/undo', (c) => show(c));

  app.post('/history/:edit/undo', async (c) => {
    const { user } = c.var;
    const edit = editOf(c);
    const values = await readValues(c);
    const found = await lastEdit(edit, desk);
    if (found.outcome !== 'can_undo') return sendProblem(c, PROBLEMS[found.outcome], 409);
    const shown = await read.preview(found.edits, found.base, user);
    if (shown.outcome === 'unknown_subject') return sendUnknown(c);
    const applied = await desk.apply(found.edits, {
      ...{ ...actingUser(user), source: 'page', base: found.base, confirmed: values.confirmed === 'yes' },
      why: values.why || undoneWhy(edit, found.why),
    });
    return respondToEdit(c, deps, applied, {
      back: '/history',
      invalid: () => sendProblem(c, PROBLEMS.invalid, 422),
      stale: () => sendProblem(c, PROBLEMS.not_last, 409),
      unconfirmed: () => show(c, true),
    });
  });
};

const historyPage = (
  history: HistoryPage,
  subject: string | undefined,
  done: string | undefined,
  format: PageFormat,
): Markup => (
  <ConsolePage
    title="History"
    at="/history"
    user={format.user}
    heading="History of edits"
    about={
      subject === undefined ? (
        'Every change of a limit you may see, newest first.'
      ) : (
        <>
          Of {subjectLink(subject, subject)}. <a href="/history">All</a>
        </>
      )
    }
  >
    <Done text={done} />
    <section class="card" aria-label="Edits">
      {historyPart(history, subject, format)}
    </section>
  </ConsolePage>
);

const HISTORY = <a href="/history">History of edits</a>;

/** One edit of the log with every difference, a hundred a page. @param first - 0-based, of the first difference shown */
function editEntryPage(entry: LogEntry, first: number, mayUndo: boolean, format: PageFormat): Markup {
  const { edit, why, actor, source, atMs, count, rows } = entry;
  const to = (from: number): string => `/history/${edit}?from=${from}`;
  const total = rows?.length ?? 0;
  const last = Math.min(total, first + ROWS_SHOWN);
  return (
    <ConsolePage
      title={`Edit ${edit}`}
      at="/history"
      user={format.user}
      crumbs={[HISTORY]}
      about={
        <>
          {why}. {actor} via {source}, {instant(atMs, format)} ({distance(atMs, format.nowMs)})
        </>
      }
      actions={mayUndo && button(`/history/${edit}/undo`, 'Take it back')}
    >
      <Card id="differs" title="What changed" aside={pageCount(count, 'difference')}>
        {rows === undefined ? (
          <p class="soft">The version before this edit could not be read, so its changes are unknown.</p>
        ) : (
          changeTable(rows.slice(first, first + ROWS_SHOWN), 'What changed', format)
        )}
        {total > ROWS_SHOWN && (
          <PageLinks
            previous={first > 0 ? to(Math.max(0, first - ROWS_SHOWN)) : undefined}
            next={last < total ? to(last) : undefined}
          >
            {number(Math.min(first + 1, last))}–{number(last)} of {number(total)}
          </PageLinks>
        )}
      </Card>
    </ConsolePage>
  );
}

const undoneWhy = (edit: number, why: string): string =>
  `undoes edit ${edit}: ${why}`.slice(0, WHY_CHARACTERS_MAX);

const problem = (title: string, sentence: string, remedy: string): Problem => ({
  ...{ title, sentence, remedy, link: ['/history', 'To the history'] },
});

const PROBLEMS: Readonly<Record<'not_last' | 'nothing_live' | 'gone' | 'invalid', Problem>> = {
  not_last: problem(
    'Others edited since',
    'Only the last edit is taken back, so nothing was changed.',
    'Take back those that came later first, or edit the limit itself.',
  ),
  nothing_live: problem('Nothing to take back', 'No limit was edited yet.', 'See the history.'),
  gone: problem(
    'Too old to take back',
    'The version before this edit was kept for 90 days and is gone.',
    'Edit the limits themselves.',
  ),
  invalid: problem(
    'It cannot be taken back',
    'The limits from before do not fit the rules that are in force now.',
    'Edit the limits themselves.',
  ),
};

interface UndoShown {
  readonly edit: number;
  readonly why: string;
  readonly preview: ValidPreview;
  readonly unconfirmed: boolean;
}

const undoPage = ({ edit, why, preview, unconfirmed }: UndoShown, format: PageFormat): Markup => (
  <ConsolePage
    title={`Take back edit ${edit}`}
    at="/history"
    user={format.user}
    crumbs={[HISTORY, <a href={`/history/${edit}`}>Edit {edit}</a>]}
    about={why}
  >
    {unconfirmed && <NotConfirmed />}
    {previewPart(preview, format)}
    <PostForm user={format.user} class="card" action={`/history/${edit}/undo`}>
      {field(
        { name: 'why', label: 'Why', type: 'textarea', required: true, max: WHY_CHARACTERS_MAX },
        { why: undoneWhy(edit, why) },
      )}
      {confirmPart(preview, format)}
      <div class="actions">
        <button class="main">{preview.needsApproval.length > 0 ? 'File a request' : 'Take it back'}</button>
        {button(`/history/${edit}`, 'Cancel')}
      </div>
    </PostForm>
  </ConsolePage>
);
