import { writtenDay } from '../../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { actingUser } from '../../../answers/reading/context.ts';
import type { LimitEdit } from '../../../core/limits/edit-model.ts';
import type { User } from '../../../core/signin/model.ts';
import {
  formatOf,
  type PageContext,
  type PageRoutes,
  type PagesDeps,
  query,
  readValues,
  send,
} from '../page-deps.ts';
import type { Values } from '../parts/form-field.tsx';
import { countedFor } from '../parts/preview-part.tsx';
import { respondToEdit, sendUnknown } from '../problem-page.tsx';
import { backOf, type EditFormView, editPage, previewPage, stalePage } from './edit-pages.tsx';
import { type EditForm, type EditKind, editForm, fieldsOf, isEditKind } from './forms.ts';
import { byField, NAMED, readEdit } from './read-edit.ts';

export const editRoutes: PageRoutes = (app, deps) => {
  app.get('/edit', async (c) => {
    const named: Values = Object.fromEntries(
      NAMED.map((name) => [name, query(c, name) ?? ''] as const).filter(([, value]) => value !== ''),
    );
    const opened = await openForm(deps, query(c, 'kind'), named, c.var.user);
    if (opened === undefined) return sendUnknown(c);
    const { kind, form, context, base = '' } = opened;
    const isNew = kind === 'set' && context.limit === undefined;
    const values = { ...named, ...(!isNew && asHiddenFields(form)), base, ...form.values };
    return send(c, editPage({ kind, form, values }, formatOf(c, deps)));
  });

  app.post('/edit', async (c) => {
    const values = await readValues(c);
    const opened = await openForm(deps, values.kind, values, c.var.user);
    if (opened === undefined) return sendUnknown(c);
    const format = formatOf(c, deps);
    const { kind, form } = opened;
    const shown = { kind, form, values };
    if (values.step === 'change') return send(c, editPage(shown, format));
    const read = readEdit(kind, form, values, wasOf(values), deps.policy.currency);
    if (!read.ok) return send(c, editPage({ ...shown, problems: read.problems }, format), 422);
    return judge(c, deps, shown, read.edit, read.why);
  });
};

/** Previews also need rights, because hidden subjects cannot be edited. */
async function judge(
  c: PageContext,
  deps: PagesDeps,
  shown: EditFormView,
  edit: LimitEdit,
  why: string,
): Promise<Response> {
  const { user } = c.var;
  const { form, values } = shown;
  const format = formatOf(c, deps);
  const base = values.base || undefined;
  const preview = await deps.read.preview([edit], base, user);
  if (preview.outcome === 'unknown_subject') return sendUnknown(c);
  const again = (problems: Parameters<typeof byField>[0]): Promise<Response> =>
    send(c, editPage({ ...shown, ...byField(problems, fieldsOf(form)) }, format), 422);
  if (preview.outcome === 'invalid') return again(preview.problems);
  // An old set is never published again, so the edit is refused with both versions.
  if (!preview.stale && values.step !== 'apply') {
    const exact = await countedFor(deps, [edit], base, values, user);
    return send(c, previewPage({ form, values, preview, exact }, format));
  }
  const confirmed = values.confirmed === 'yes';
  const by = { ...actingUser(user), why, source: 'page', base, confirmed };
  const back = backOf(values);
  return respondToEdit(c, deps, await deps.desk.apply([edit], by), {
    back,
    invalid: again,
    stale: (stale) => send(c, stalePage(stale, { values, back }, format), 409),
    unconfirmed: () => send(c, previewPage({ form, values, preview, unconfirmed: true }, format), 409),
  });
}

/** Names the entry of these edits. Without it limit editing would take one that has no id. */
const NAMED_BY: Readonly<Partial<Record<EditKind, (typeof NAMED)[number]>>> = {
  ...{ remove: 'limit', revoke: 'grant', unfreeze: 'freeze' },
  ...{ 'end-breakglass': 'breakglass', 'review-breakglass': 'breakglass' },
};

/** The form of a kind of edit; undefined: there is nothing to edit, or it is not theirs to see. */
async function openForm(
  { desk, read, clock, zone }: PagesDeps,
  kind: string | undefined,
  values: Values,
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
  const base = view === undefined ? (await desk.live())?.pointer.set : view.set;
  return { kind, form: editForm(kind, context), context, base };
}

/** Original values are kept under these names, so that only changes are sent. */
const WAS = 'was.';

const asHiddenFields = ({ values = {} }: EditForm): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${WAS}${name}`, value]));

const wasOf = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(WAS) ? [[name.slice(WAS.length), value]] : [],
    ),
  );
