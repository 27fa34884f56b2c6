import { withoutAbsent } from '../../../policies/without-absent.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { HistoryPage, LogEntry } from '../../core/limits/edit-model.ts';
import { lastEdit } from '../../core/limits/limit-reads.ts';
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
import { instant, type PageFormat, pageCount } from './parts/amounts.tsx';
import { field } from './parts/form-field.tsx';
import { button, Card, Done, type Markup, NotConfirmed, PostForm, subjectLink } from './parts/layout.tsx';
import { confirmPart, historyPart, previewPart, type ValidPreview } from './parts/preview-part.tsx';
import { changeTable } from './parts/tables.tsx';
import { respondToEdit, sendProblem, sendUnknown } from './problem-page.tsx';

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
    return send(c, editEntryPage(entry, mayUndo, formatOf(c, deps)));
  });

  const show = async (c: PageContext, unconfirmed = false): Promise<Response> => {
    const edit = editOf(c);
    const found = await lastEdit(edit, desk);
    if (found.outcome !== 'can_undo') return refused(c, found.outcome);
    const preview = await read.preview(found.edits, found.base, c.var.user);
    if (preview.outcome === 'unknown_subject') return sendUnknown(c);
    if (preview.outcome === 'invalid') return refused(c, 'invalid', 422);
    const page = undoPage(edit, found.why, preview, unconfirmed, formatOf(c, deps));
    return send(c, page, unconfirmed ? 409 : 200);
  };
  app.get('/history/:edit/undo', (c) => show(c));

  app.post('/history/:edit/undo', async (c) => {
    const { user } = c.var;
    const edit = editOf(c);
    const values = await readValues(c);
    const found = await lastEdit(edit, desk);
    if (found.outcome !== 'can_undo') return refused(c, found.outcome);
    const shown = await read.preview(found.edits, found.base, user);
    if (shown.outcome === 'unknown_subject') return sendUnknown(c);
    const applied = await desk.apply(found.edits, {
      ...{ ...actingUser(user), source: 'page', base: found.base, confirmed: values.confirmed === 'yes' },
      why: values.why || undoneWhy(edit, found.why),
    });
    return respondToEdit(c, deps, applied, {
      back: '/history',
      invalid: () => refused(c, 'invalid', 422),
      stale: () => refused(c, 'not_last'),
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

function editEntryPage(entry: LogEntry, mayUndo: boolean, format: PageFormat): Markup {
  const { edit, why, actor, source, atMs, count, rows } = entry;
  return (
    <ConsolePage
      title={`Edit ${edit}`}
      at="/history"
      user={format.user}
      crumbs={[HISTORY]}
      about={
        <>
          {why}. {actor} via {source}, {instant(atMs, format)}
        </>
      }
      actions={mayUndo && button(`/history/${edit}/undo`, 'Take it back')}
    >
      <Card id="differs" title="What changed" aside={pageCount(count, 'difference')}>
        {rows === undefined ? (
          <p class="soft">The version before this edit could not be read.</p>
        ) : (
          changeTable(rows, 'What changed', format)
        )}
      </Card>
    </ConsolePage>
  );
}

const undoneWhy = (edit: number, why: string): string =>
  `undoes edit ${edit}: ${why}`.slice(0, WHY_CHARACTERS_MAX);

const WHY_NOT = {
  not_last: 'Others edited since, and only the last edit is taken back.',
  nothing_live: 'No limit was edited yet.',
  gone: 'The version before this edit was kept for 90 days and is gone.',
  invalid: 'The limits from before do not fit the rules that are in force now.',
} as const;

const refused = (c: PageContext, why: keyof typeof WHY_NOT, status: 409 | 422 = 409): Promise<Response> =>
  sendProblem(
    c,
    {
      title: 'It cannot be taken back',
      sentence: `${WHY_NOT[why]} Nothing was changed.`,
      remedy: 'Edit the limits themselves.',
      link: ['/history', 'To the history'],
    },
    status,
  );

const undoPage = (
  edit: number,
  why: string,
  preview: ValidPreview,
  unconfirmed: boolean,
  format: PageFormat,
): Markup => (
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
