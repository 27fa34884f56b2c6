import { withoutAbsent } from '../../../policies/without-absent.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { HistoryPage, LogEntry } from '../../core/limits/edit-model.ts';
import { lastEdit } from '../../core/limits/limit-reads.ts';
import { ConsolePage } from './frame.tsx';
import {
  doneText,
  type PageContext,
  type PageRoutes,
  query,
  readValues,
  readWholeNumber,
  send,
} from './page.ts';
import { mayOpen } from './page-access.ts';
import { COUNT_STEP, countJobs } from './parts/backtest-part.tsx';
import { historyPart } from './parts/history-part.tsx';
import { ReviewPage, type ReviewParts } from './parts/preview-part.tsx';
import * as ui from './parts/ui.ts';
import { respondToEdit, sendProblem, sendUnknown } from './problem-page.tsx';

const ENTRIES = 30;

export const historyRoutes: PageRoutes = (app, deps) => {
  const { limitEdits, read } = deps;
  const editOf = (c: PageContext): number => readWholeNumber(c.req.param('edit')) ?? 0;

  app.get('/history', async (c) => {
    const subject = query.text(c, 'subject');
    const input = { ...withoutAbsent({ subject, before: query.number(c, 'before') }), max: ENTRIES };
    const history = await read.history(input, c.var.user);
    return send(c, historyPage(history, subject, doneText(c)));
  });

  app.get('/history/:edit', async (c) => {
    const edit = editOf(c);
    const [entry, live] = await Promise.all([read.edit(edit, c.var.user), limitEdits.live()]);
    if (entry === undefined) return sendUnknown(c);
    const mayUndo = live?.pointer.edit === edit && mayOpen('GET /history/:edit/undo', c.var.user.roles);
    return send(c, editEntryPage(entry, mayUndo));
  });

  const undo = async (c: PageContext, values: ui.Values = {}): Promise<Response> => {
    const { user } = c.var;
    const edit = editOf(c);
    const found = await lastEdit(edit, limitEdits);
    if (found.outcome !== 'can_undo') return refused(c, found.outcome);
    const { edits, base } = found;
    const preview = await read.preview(edits, base, user);
    if (preview.outcome === 'unknown_subject') return sendUnknown(c);
    if (preview.outcome === 'invalid') return refused(c, 'invalid', 422);
    const undoneWhy = `undoes edit ${edit}: ${found.why}`.slice(0, ui.WHY.max);
    const show = (more: Pick<ReviewParts, 'exact' | 'unconfirmed'>, status: 200 | 409 = 200) =>
      send(
        c,
        <ReviewPage
          {...{ title: `Undo edit ${edit}`, at: '/history', preview, ...more }}
          crumbs={[HISTORY, <a href={`/history/${edit}`}>Edit {edit}</a>]}
          about={found.why}
          action={`/history/${edit}/undo`}
          fields={ui.field(ui.WHY, { why: undoneWhy, ...values })}
          save="Undo edit"
          links={ui.button(`/history/${edit}`, 'Cancel')}
        />,
        status,
      );
    if (values.step === COUNT_STEP || c.req.method !== 'POST')
      return show({ exact: await countJobs(deps, edits, base, values, user) });
    const applied = await limitEdits.apply(edits, {
      ...{ ...actingUser(user), source: 'page', base, confirmed: values.confirmed === 'yes' },
      why: values.why || undoneWhy,
    });
    return respondToEdit(c, deps, applied, {
      back: '/history',
      invalid: () => refused(c, 'invalid', 422),
      stale: () => refused(c, 'not_last'),
      unconfirmed: () => show({ unconfirmed: true }, 409),
    });
  };
  app.get('/history/:edit/undo', (c) => undo(c));
  app.post('/history/:edit/undo', async (c) => undo(c, await readValues(c)));
};

const historyPage = (
  history: HistoryPage,
  subject: string | undefined,
  done: string | undefined,
): ui.Markup => (
  <ConsolePage
    title="History"
    at="/history"
    heading="History of edits"
    about={
      subject === undefined ? (
        'All edits of limits that you may see, newest first.'
      ) : (
        <>
          Of {ui.subjectLink(subject, subject)}. <a href="/history">All edits</a>
        </>
      )
    }
  >
    <ui.Done text={done} />
    <section class="card" aria-label="Edits">
      {historyPart(history, subject)}
    </section>
  </ConsolePage>
);

const HISTORY = <a href="/history">History of edits</a>;

function editEntryPage(entry: LogEntry, mayUndo: boolean): ui.Markup {
  const { edit, why, actor, source, atMs, count, rows } = entry;
  return (
    <ConsolePage
      title={`Edit ${edit}`}
      at="/history"
      crumbs={[HISTORY]}
      about={
        <>
          {why}. {actor} via {source}, {ui.instant(atMs)}
        </>
      }
      actions={mayUndo && ui.button(`/history/${edit}/undo`, 'Undo edit')}
    >
      <ui.Card id="differs" title="Changes" aside={ui.pageCount(count, 'difference')}>
        {rows === undefined ? (
          <p class="soft">The version before this edit could not be read.</p>
        ) : (
          ui.changeTable(rows, 'Changes')
        )}
      </ui.Card>
    </ConsolePage>
  );
}

const WHY_NOT = {
  not_last: 'Other edits followed, and only the last edit can be undone.',
  nothing_live: 'No limit has been edited yet.',
  gone: 'The version before this edit has expired after 90 days.',
  invalid: 'The earlier limits do not fit the rules that are in force now.',
} as const;

const refused = (c: PageContext, why: keyof typeof WHY_NOT, status: 409 | 422 = 409): Promise<Response> =>
  sendProblem(
    c,
    {
      title: 'Edit cannot be undone',
      sentence: `${WHY_NOT[why]} Nothing was changed.`,
      remedy: 'Edit the limits instead.',
      link: ['/history', 'Open history'],
    },
    status,
  );
