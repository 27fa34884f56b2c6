import type { BacktestAnswer } from '../../../answers/limits/models.ts';
import type { ChangeRow } from '../../../core/limits/edit-model.ts';
import { ConsolePage } from '../frame.tsx';
import { distance, leftOfText, type PageFormat } from '../parts/amounts.tsx';
import {
  type FieldProblems,
  field,
  hiddenFields,
  NO_PROBLEMS,
  problemList,
  type Values,
} from '../parts/form-field.tsx';
import { address, button, Card, type Markup, NotConfirmed, PostForm, subjectHref } from '../parts/layout.tsx';
import { confirmPart, previewPart, SAVE_FORM, type ValidPreview } from '../parts/preview-part.tsx';
import { changeTable } from '../parts/tables.tsx';
import type { Stale } from '../problem-page.tsx';
import { type EditForm, type EditKind, fieldsOf } from './forms.ts';

export interface EditFormView {
  readonly kind: EditKind;
  readonly form: EditForm;
  readonly values: Values;
  readonly problems?: FieldProblems;
  readonly others?: readonly string[];
}

export function editPage(shown: EditFormView, format: PageFormat): Markup {
  const { kind, form, values, problems = NO_PROBLEMS, others = [] } = shown;
  const { title, standing, fields, more = [] } = form;
  const names = new Set(fieldsOf(form).map(({ name }) => name));
  const along = Object.entries(values).filter(([name]) => !names.has(name));
  const { subject, limit } = values;
  return (
    <ConsolePage title={title} at="/" user={format.user}>
      {problemList(problems, others, fieldsOf(form))}
      <PostForm user={format.user} class="card" action="/edit">
        {hiddenFields({ ...Object.fromEntries(along), kind, step: 'preview' })}
        {standing !== undefined && <p>{leftOfText(standing, format)}.</p>}
        {fields.map((each) => field(each, values, problems))}
        {more.length > 0 && (
          <details class="field" open={more.some(({ name }) => problems.has(name))}>
            <summary>More</summary>
            {more.map((each) => field(each, values, problems))}
          </details>
        )}
        <div class="actions">
          <button class="main">See what it does</button>
          {button(backOf({ ...values, kind }), 'Cancel')}
          {kind === 'set' &&
            limit !== undefined &&
            button(address('/edit', { kind: 'remove', subject, limit }), 'Remove this limit')}
        </div>
      </PostForm>
    </ConsolePage>
  );
}

export const backOf = ({ kind, subject = '' }: Values): string =>
  kind === 'end-breakglass' || kind === 'review-breakglass' ? '/break-glass' : (subjectHref(subject) ?? '/');

interface PreviewShown extends Pick<EditFormView, 'form' | 'values'> {
  readonly preview: ValidPreview;
  readonly exact?: BacktestAnswer | undefined;
  readonly unconfirmed?: true;
}

export const previewPage = (shown: PreviewShown, format: PageFormat): Markup => {
  const {
    form: { title },
    values,
    preview,
    exact,
    unconfirmed,
  } = shown;
  return (
    <ConsolePage
      title={`Check: ${title}`}
      at="/"
      user={format.user}
      heading={title}
      about="Not saved yet. Look at what it does, then save it."
    >
      {unconfirmed && <NotConfirmed />}
      {previewPart(preview, format, exact)}
      <PostForm user={format.user} class="card" id={SAVE_FORM} action="/edit">
        {hiddenFields(withoutStep(values))}
        <p>
          <span class="soft">Why:</span> {values.why ?? values.reason ?? values.note}
        </p>
        {confirmPart(preview, format)}
        <div class="actions">
          <button class="main" name="step" value="apply" disabled={preview.rows.length === 0}>
            {preview.needsApproval.length > 0 ? 'File a request' : 'Save'}
          </button>
          <button name="step" value="change" formnovalidate>
            Change
          </button>
          {button(backOf(values), 'Cancel')}
        </div>
      </PostForm>
    </ConsolePage>
  );
};

const withoutStep = ({ step: _, confirmed: __, cursor: ___, ...values }: Values): Values => values;

interface Again {
  readonly values?: Values;
  readonly back: string;
  readonly hint?: string;
}

export const stalePage = ({ live, mine, theirs }: Stale, again: Again, format: PageFormat): Markup => {
  const { user, nowMs } = format;
  // The last edit may concern a hidden group.
  const seesAll = user.roles.admin || user.roles.finance;
  const values = again.values && { ...withoutStep(again.values), base: live?.pointer.set ?? '' };
  const card = (id: string, title: string, rows: readonly ChangeRow[] | undefined): Markup => (
    <Card id={id} title={title}>
      {rows ? changeTable(rows, 'Differences', format) : <p>The version you began with is gone.</p>}
    </Card>
  );
  const saved = live && (
    <>
      Edit {live.pointer.edit} was saved {distance(live.change.atMs, nowMs)}
      {seesAll && ` by ${live.change.actor}: “${live.change.why}”`}.
    </>
  );
  return (
    <ConsolePage
      title="Changed meanwhile"
      at={values === undefined ? '/import' : '/'}
      user={user}
      heading="Changed by another user meanwhile"
      about={<>Yours was not saved. {saved}</>}
    >
      <div class="two">
        {card('mine', 'Yours, not saved', mine)}
        {card('theirs', 'Saved since you began', theirs)}
      </div>
      <PostForm user={user} class="card" action="/edit">
        {values !== undefined && hiddenFields(values)}
        {again.hint !== undefined && <p>{again.hint}</p>}
        <div class="actions">
          {values !== undefined && (
            <button class="main" name="step" value="preview">
              See mine on top of theirs
            </button>
          )}
          {button(again.back, 'Keep theirs')}
        </div>
      </PostForm>
    </ConsolePage>
  );
};
