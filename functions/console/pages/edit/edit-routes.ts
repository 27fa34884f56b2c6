import { Hono } from 'hono';
import { actingUser } from '../../../answers/reading/context.ts';
import type { ApplyOutcome, LimitEdit } from '../../../core/limits/edit-model.ts';
import type { SignInEnv } from '../../../core/signin/model.ts';
import { type PageContext, type PagesDeps, pageFormatOf, query, readValues, send } from '../page-deps.ts';
import { countedFor } from '../parts/backtest-part.tsx';
import type { Values } from '../parts/form-field.tsx';
import { address } from '../parts/layout.tsx';
import { approvalPage, forbiddenPage, problemPage, unknownPlace } from '../problem-page.tsx';
import { backOf, type EditFormView, editPage, previewPage, stalePage, untouched } from './edit-pages.tsx';
import { EDIT_KINDS, type EditKind, ownerContactsOf } from './forms.ts';
import { asHiddenFields, byField, openForm, readEdit, standingOf, wasOf } from './read-edit.ts';

const NAMED = ['subject', 'limit', 'grant', 'freeze', 'breakglass'] as const;

/** `GET /edit` shows a form, `POST /edit` first what it would do, then does it. */
export function editRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();

  app.get('/edit', async (c) => {
    const kind = kindOf(query(c, 'kind'));
    const named = Object.fromEntries(
      NAMED.flatMap((name) => [[name, query(c, name)]]).filter(([, value]) => value),
    );
    const opened = kind && (await openForm(deps, kind, named as Values, c.var.user));
    if (opened === undefined) return send(c, unknownPlace(c.var.user), 404);
    const { form, context } = opened;
    const isNew = opened.kind === 'set' && context.limit === undefined;
    const values = {
      ...(named as Values),
      ...(isNew ? {} : asHiddenFields(form.values)),
      base: opened.base ?? '',
      ...form.values,
    };
    return send(c, editPage(c.var.user, untouched(opened.kind, form, values), pageFormatOf(deps)));
  });

  app.post('/edit', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const kind = kindOf(values.kind);
    const opened = kind && (await openForm(deps, kind, values, user));
    if (opened === undefined) return send(c, unknownPlace(user), 404);
    const standing = standingOf(opened, values);
    if (standing !== undefined) return send(c, editPage(user, standing, pageFormatOf(deps)), 409);
    const { form } = opened;
    const shown = {
      kind: opened.kind,
      form,
      values,
      problems: new Map<string, string>(),
      others: [] as string[],
    };
    if (values.step === 'change') return send(c, editPage(user, shown, pageFormatOf(deps)));
    const read = readEdit(opened.kind, values, wasOf(values), deps.policy.currency);
    if (!read.ok)
      return send(c, editPage(user, { ...shown, problems: read.problems }, pageFormatOf(deps)), 422);
    return judge(c, deps, shown, read.edit, read.why);
  });

  return app;
}

const kindOf = (text: string | undefined): EditKind | undefined => EDIT_KINDS.find((kind) => kind === text);

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
  const answer = await deps.read.preview([edit], values.base || undefined, user);
  switch (answer.outcome) {
    case 'unknown_subject':
      return send(c, unknownPlace(user), 404);
    case 'invalid':
      return send(
        c,
        editPage(user, { ...shown, ...byField(answer.problems, form) }, pageFormatOf(deps)),
        422,
      );
    case 'valid': {
      // An old set is never published again, so the edit is refused with both versions.
      if (answer.stale || values.step === 'apply') return apply(c, deps, shown, edit, why);
      const exact = await countedFor(deps, [edit], values.base || undefined, values, user);
      const preview = { title: form.title, values, preview: answer, exact };
      return send(c, previewPage(user, preview, pageFormatOf(deps)));
    }
  }
}

async function apply(
  c: PageContext,
  deps: PagesDeps,
  shown: EditFormView,
  edit: LimitEdit,
  why: string,
): Promise<Response> {
  const { user } = c.var;
  const { form, values } = shown;
  const back = backOf(values);
  const outcome = await deps.desk.apply([edit], {
    ...actingUser(user),
    why,
    source: 'page',
    base: values.base || undefined,
    confirmed: values.confirmed === 'yes',
  });
  const sees = await deps.read.sight(user);
  switch (outcome.outcome) {
    case 'live':
      deps.log.info('limits edited', {
        user: user.id,
        edit: outcome.pointer.edit,
        rows: outcome.rows.length,
      });
      return c.redirect(address(back, { saved: outcome.pointer.edit }), 303);
    case 'unchanged':
      return c.redirect(address(back, { saved: 'nothing' }), 303);
    case 'invalid':
      return send(
        c,
        editPage(user, { ...shown, ...byField(outcome.problems, form) }, pageFormatOf(deps)),
        422,
      );
    case 'forbidden': {
      const denied = outcome.denied.filter(({ row }) => sees(row.subject));
      const reach = await ownerContactsOf(
        denied.map(({ row }) => row),
        deps.read,
        user,
      );
      return send(c, forbiddenPage(user, denied, reach, back), 403);
    }
    case 'stale':
      return send(c, stalePage(user, seen(outcome, sees), { values, back }, pageFormatOf(deps)), 409);
    case 'needs_confirmation': {
      const answer = await deps.read.preview([edit], values.base || undefined, user);
      if (answer.outcome === 'valid')
        return send(
          c,
          previewPage(
            user,
            { title: form.title, values, preview: answer, unconfirmed: true },
            pageFormatOf(deps),
          ),
          409,
        );
      return send(
        c,
        problemPage(user, {
          title: 'Not saved',
          sentence: 'This has to be confirmed.',
          remedy: 'Begin again.',
        }),
        409,
      );
    }
    case 'needs_approval':
      return send(c, approvalPage(user, outcome, back), 202);
  }
}

type Stale = Extract<ApplyOutcome, { outcome: 'stale' }>;

/** Only what is theirs to see. */
const seen = ({ mine, theirs, ...rest }: Stale, sees: (subject: string) => boolean): Stale => ({
  ...rest,
  ...(mine !== undefined && { mine: mine.filter(({ subject }) => sees(subject)) }),
  ...(theirs !== undefined && { theirs: theirs.filter(({ subject }) => sees(subject)) }),
});
