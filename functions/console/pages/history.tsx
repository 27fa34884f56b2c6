import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { HistoryPage, LogEntry } from '../../core/limits/edit-model.ts';
import { lastEdit } from '../../core/limits/limit-reads.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, query, readValues, readWholeNumber, send } from './page.ts';
import { mayOpen } from './page-access.ts';
import { COUNT_STEP } from './parts/backtest-part.tsx';
import { reviewEdits } from './parts/preview-part.tsx';
import * as ui from './parts/ui.ts';
import { sendProblem, sendUnknown } from './problem-page.tsx';

const ENTRIES = 30;

export const historyRoutes: PageRoutes = (app, deps) => {
  const { limitEdits, read } = deps;
  const editOf = (c: PageContext): number => readWholeNumber(c.req.param('edit')) ?? 0;

  app.get('/history', async (c) => {
    const subject = query.text(c, 'subject');
    const input = { ...withoutAbsent({ subject, before: query.number(c, 'before') }), max: ENTRIES };
    const history = await read.history(input, c.var.user);
    return send(c, historyPage(history, subject));
  });

  app.get('/history/:edit', async (c) => {
    const edit = editOf(c);
    const [entry, live] = await Promise.all([read.edit(edit, c.var.user), limitEdits.live()]);
    if (entry === undefined) return sendUnknown(c);
    const mayUndo = live?.pointer.edit === edit && mayOpen('GET /history/:edit/undo', c.var.user.roles);
    return send(c, editEntryPage(entry, mayUndo));
  });

  const undo = async (c: PageContext, values: ui.Values = {}): Promise<Response> => {
    const edit = editOf(c);
    const found = await lastEdit(edit, limitEdits);
    if (found.outcome !== 'can_undo') return refused(c, found.outcome);
    const why = `undoes edit ${edit}: ${found.why}`.slice(0, ui.WHY.max);
    return reviewEdits(c, deps, {
      ...{ edits: found.edits, base: found.base, values, back: '/history' },
      author: { why: values.why || why, source: 'page' },
      isSaved: c.req.method === 'POST' && values.step !== COUNT_STEP,
      invalid: () => refused(c, 'invalid', 422),
      stale: () => refused(c, 'not_last'),
      page: () => ({
        ...{ title: `Undo edit ${edit}`, at: '/history', about: found.why },
        crumbs: [HISTORY, <a href={`/history/${edit}`}>Edit {edit}</a>],
        action: `/history/${edit}/undo`,
        fields: ui.field(ui.WHY, { why, ...values }),
        save: 'Undo edit',
        links: ui.button(`/history/${edit}`, 'Cancel'),
      }),
    });
  };
  app.get('/history/:edit/undo', (c) => undo(c));
  app.post('/history/:edit/undo', async (c) => undo(c, await readValues(c)));
};

const historyPage = (history: HistoryPage, subject: string | undefined): ui.Markup => (
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

export function historyPart(history: HistoryPage, subject: string | undefined): ui.Markup {
  if (history.entries.length === 0 && history.next === undefined) return <p class="soft">No edits yet.</p>;
  return (
    <>
      <ol class="timeline">
        {history.entries.map((entry) => (
          <li>{entryText(entry)}</li>
        ))}
      </ol>
      {history.next !== undefined && (
        <p>
          <a href={ui.address('/history', { subject, before: history.next })}>Show earlier edits</a>
        </p>
      )}
    </>
  );
}

function entryText({ edit, why, actor, source, atMs, rows, count }: LogEntry): ui.Markup {
  const href = `/history/${edit}`;
  return (
    <>
      <strong>{why}</strong>
      <p class="soft">
        {actor} via {source}, {ui.shortInstant(atMs)} ({ui.distance(atMs)}), <a href={href}>edit {edit}</a>
      </p>
      {rows !== undefined ? (
        ui.changeLines(rows, href)
      ) : (
        <p class="soft">
          {count === 0 ? 'The changes are unknown.' : <a href={href}>{ui.pageCount(count, 'difference')}</a>}
        </p>
      )}
    </>
  );
}
