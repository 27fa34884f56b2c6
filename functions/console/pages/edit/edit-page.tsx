import { writtenDay } from '../../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { ChangeRow, LimitEdit } from '../../../core/limits/edit-model.ts';
import type { User } from '../../../core/signin/model.ts';
import { ConsolePage } from '../frame.tsx';
import { type PageContext, type PageRoutes, type PagesDeps, query, readValues, send } from '../page.ts';
import { reviewEdits } from '../parts/preview-part.tsx';
import * as ui from '../parts/ui.ts';
import { type Stale, sendUnknown } from '../problem-page.tsx';
import {
  byField,
  type EditForm,
  type EditKind,
  editForm,
  fieldsOf,
  isEditKind,
  NAMED,
  readEdit,
} from './forms.ts';

export const editRoutes: PageRoutes = (app, deps) => {
  app.get('/edit', async (c) => {
    const named: ui.Values = Object.fromEntries(
      NAMED.map((name) => [name, query.text(c, name) ?? ''] as const).filter(([, value]) => value !== ''),
    );
    const opened = await openForm(deps, query.text(c, 'kind'), named, c.var.user);
    if (opened === undefined) return sendUnknown(c);
    const { kind, form, context, base = '' } = opened;
    const isNew = kind === 'set' && context.limit === undefined;
    const values = { ...named, ...(!isNew && asHiddenFields(form)), base, ...form.values };
    return send(c, editPage({ kind, form, values }));
  });

  app.post('/edit', async (c) => {
    const values = await readValues(c);
    const opened = await openForm(deps, values.kind, values, c.var.user);
    if (opened === undefined) return sendUnknown(c);
    const { kind, form } = opened;
    const shown = { kind, form, values };
    if (values.step === 'change') return send(c, editPage(shown));
    const read = readEdit(kind, form, values, wasOf(values), deps.policy.currency);
    if (!read.ok) return send(c, editPage({ ...shown, problems: read.problems }), 422);
    return previewOrApply(c, deps, shown, read.edit, read.why);
  });
};

function previewOrApply(
  c: PageContext,
  deps: PagesDeps,
  shown: EditFormView,
  edit: LimitEdit,
  why: string,
): Promise<Response> {
  const { form, values } = shown;
  const back = backOf(values);
  return reviewEdits(c, deps, {
    ...{ edits: [edit], base: values.base || undefined, values, author: { why, source: 'page' }, back },
    isSaved: values.step === 'apply',
    invalid: (problems) => send(c, editPage({ ...shown, ...byField(problems, fieldsOf(form)) }), 422),
    stale: (stale) => send(c, stalePage(stale, { values, back }), 409),
    page: () => ({
      ...{ title: `Preview: ${form.title}`, at: '/', heading: form.title, action: '/edit' },
      about: 'Not saved yet. Check the effect, then save.',
      fields: [
        ui.hiddenFields(withoutStep(values)),
        <p>
          <span class="soft">Reason:</span> {why}
        </p>,
      ],
      save: 'Save changes',
      links: [
        <button name="step" value="change" formnovalidate>
          Edit again
        </button>,
        ui.button(back, 'Cancel'),
      ],
    }),
  });
}

/** Names the entry of these edits. Without it limit editing would take one that has no id. */
const NAMED_BY: Readonly<Partial<Record<EditKind, (typeof NAMED)[number]>>> = {
  ...{ remove: 'limit', revoke: 'grant', unfreeze: 'freeze' },
  ...{ 'end-breakglass': 'breakglass', 'review-breakglass': 'breakglass' },
};

/** Returns undefined if there is nothing to edit, or the user may not see it. */
async function openForm(
  { limitEdits, read, clock, zone }: PagesDeps,
  kind: string | undefined,
  values: ui.Values,
  user: User,
) {
  if (!isEditKind(kind)) return undefined;
  const { subject = '', limit: limitId } = values;
  const named = NAMED_BY[kind];
  if (named !== undefined && !values[named]) return undefined;
  const view =
    subject === '' ? undefined : await read.subject(subject, withoutAbsent({ limit: limitId }), user);
  const needsNone = kind === 'end-breakglass' || kind === 'review-breakglass';
  if (view === undefined && (subject !== '' || !needsNone)) return undefined;
  const limit = kind === 'grant' ? undefined : view?.limits.find(({ id }) => id === limitId);
  if (kind === 'set' && limitId !== undefined && limit === undefined) return undefined;
  const context = { view, limit, today: writtenDay(clock.nowMs(), view?.zone ?? zone) };
  const base = view === undefined ? (await limitEdits.live())?.pointer.set : view.set;
  return { kind, form: editForm(kind, context), context, base };
}

/** Original values are kept under these names, so that only changes are sent. */
const WAS = 'was.';

const asHiddenFields = ({ values = {} }: EditForm): ui.Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${WAS}${name}`, value]));

const wasOf = (values: ui.Values): ui.Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(WAS) ? [[name.slice(WAS.length), value]] : [],
    ),
  );

interface EditFormView {
  readonly kind: EditKind;
  readonly form: EditForm;
  readonly values: ui.Values;
  readonly problems?: ui.FieldProblems;
  readonly others?: readonly string[];
}

function editPage(shown: EditFormView): ui.Markup {
  const { kind, form, values, problems = ui.NO_PROBLEMS, others = [] } = shown;
  const { title, edited, fields, more = [] } = form;
  const names = new Set(fieldsOf(form).map(({ name }) => name));
  const along = Object.entries(values).filter(([name]) => !names.has(name));
  const { subject, limit } = values;
  return (
    <ConsolePage title={title} at="/">
      {ui.problemList(problems, others, fieldsOf(form))}
      <ui.PostForm class="card" action="/edit">
        {ui.hiddenFields({ ...Object.fromEntries(along), kind, step: 'preview' })}
        {edited !== undefined && <p>{ui.leftOfText(edited)}.</p>}
        {fields.map((each) => ui.field(each, values, problems))}
        {more.length > 0 && (
          <details class="field" open={more.some(({ name }) => problems.has(name))}>
            <summary>More</summary>
            {more.map((each) => ui.field(each, values, problems))}
          </details>
        )}
        <div class="actions">
          <button class="main">Preview changes</button>
          {ui.button(backOf({ ...values, kind }), 'Cancel')}
          {kind === 'set' &&
            limit !== undefined &&
            ui.button(ui.address('/edit', { kind: 'remove', subject, limit }), 'Remove limit')}
        </div>
      </ui.PostForm>
    </ConsolePage>
  );
}

const backOf = ({ kind, subject = '' }: ui.Values): string =>
  kind === 'end-breakglass' || kind === 'review-breakglass'
    ? '/break-glass'
    : (ui.subjectHref(subject) ?? '/');

const withoutStep = ({ step: _, confirmed: __, cursor: ___, ...values }: ui.Values): ui.Values => values;

interface Again {
  readonly values?: ui.Values;
  readonly back: string;
  readonly hint?: string;
}

export const stalePage = ({ live, mine, theirs }: Stale, again: Again): ui.Markup => {
  const { user } = ui.format();
  // The last edit may concern a hidden group.
  const seesAll = user.roles.admin || user.roles.finance;
  const values = again.values && { ...withoutStep(again.values), base: live?.pointer.set ?? '' };
  const card = (id: string, title: string, rows: readonly ChangeRow[] | undefined): ui.Markup => (
    <ui.Card id={id} title={title}>
      {rows ? ui.changeTable(rows, 'Differences') : <p>The version you started from has expired.</p>}
    </ui.Card>
  );
  const saved = live && (
    <>
      Edit {live.pointer.edit} was saved {ui.distance(live.change.atMs)}
      {seesAll && ` by ${live.change.actor}: “${live.change.why}”`}.
    </>
  );
  return (
    <ConsolePage
      title="Limits changed"
      at={values === undefined ? '/import' : '/'}
      heading="Limits changed by another user"
      about={<>Your changes were not saved. {saved}</>}
    >
      <div class="two">
        {card('mine', 'Your changes, not saved', mine)}
        {card('theirs', 'Changes saved since', theirs)}
      </div>
      <ui.PostForm class="card" action="/edit">
        {values !== undefined && ui.hiddenFields(values)}
        {again.hint !== undefined && <p>{again.hint}</p>}
        <div class="actions">
          {values !== undefined && (
            <button class="main" name="step" value="preview">
              Preview my changes on the new limits
            </button>
          )}
          {ui.button(again.back, 'Discard my changes')}
        </div>
      </ui.PostForm>
    </ConsolePage>
  );
};
