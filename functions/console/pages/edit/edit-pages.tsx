import type { BacktestAnswer } from '../../../answers/limits/edit-models.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { SAVE_FORM } from '../parts/backtest-part.tsx';
import { type FieldProblems, field, hiddenFields, problemList, type Values } from '../parts/form-field.tsx';
import { NotSaved, PostForm } from '../parts/layout.tsx';
import { leftClass, leftText, limitAmountWords, NOT_COUNTED } from '../parts/limit-words.ts';
import { address, subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount } from '../parts/page-format.tsx';
import { confirmPart, previewPart, type ValidPreview } from '../parts/preview-part.tsx';
import type { EditForm } from './edit-form-parts.ts';
import type { EditKind } from './edit-kinds.ts';

export interface EditFormView {
  readonly kind: EditKind;
  readonly form: EditForm;
  /** Visible and hidden field values. */
  readonly values: Values;
  readonly problems: FieldProblems;
  readonly others: readonly string[];
}

const NO_PROBLEMS: FieldProblems = new Map();

export function editPage(user: User, shown: EditFormView, telling: PageFormat): Markup {
  const { kind, form, values, problems, others } = shown;
  const all = [...form.fields, ...(form.more ?? [])];
  const names = new Set(all.map(({ name }) => name));
  const along = Object.fromEntries(
    Object.entries(values).filter(([name]) => !names.has(name) && name !== 'step'),
  );
  const labels = new Map(all.map(({ name, label }) => [name, label]));
  const moreOpen = form.more?.some(({ name }) => problems.has(name)) ?? false;
  return (
    <ConsolePage title={form.title} at="/" user={user}>
      <div class="head">
        <h1>{form.title}</h1>
      </div>
      {form.note !== undefined && (
        <div class="note warn" role="status">
          <p>{form.note}</p>
        </div>
      )}
      {problemList(problems, others, labels)}
      <PostForm user={user} class="card" action="/edit">
        {hiddenFields({ ...along, kind })}
        <input type="hidden" name="step" value="preview" />
        {form.standing !== undefined && standingText(form.standing, telling)}
        {form.fields.map((each) => field(each, values, problems))}
        {form.more !== undefined && (
          <details class="field" open={moreOpen}>
            <summary>More</summary>
            {form.more.map((each) => field(each, values, problems))}
          </details>
        )}
        <div class="actions">
          <button class="main">{form.submit}</button>
          <a class="button" href={backOf({ ...values, kind })}>
            Cancel
          </a>
          {kind === 'set' && values.limit !== undefined && (
            <a
              class="button"
              href={address('/edit', { kind: 'remove', subject: values.subject, limit: values.limit })}
            >
              Remove this limit
            </a>
          )}
        </div>
      </PostForm>
    </ConsolePage>
  );
}

/** The current amount with its unit. */
const standingText = (limit: LimitRow, telling: PageFormat): Markup => {
  const { settled, held = 0, unit, granted, period } = limit;
  return (
    <p>
      {period?.label ?? 'Now'}:{' '}
      {settled === undefined ? (
        <>{NOT_COUNTED}; </>
      ) : (
        <>
          {pageAmount(settled, unit, telling)} spent and {pageAmount(held, unit, telling)} held of{' '}
        </>
      )}
      {limitAmountWords(limit, telling)}
      {granted > 0 && <>, of which {pageAmount(granted, unit, telling)} are granted for a time</>}.{' '}
      {limit.left === undefined ? (
        ''
      ) : (
        <>
          <span class={leftClass(limit)}>{leftText(limit, telling)}</span>
          {limit.left < 0 ? '' : ' left'}.
        </>
      )}
    </p>
  );
};

/** Address that an edit came from: the subject's page, or the list of break-glasses. */
export const backOf = ({ kind, subject = '' }: Values): string =>
  kind === 'end-breakglass' || kind === 'review-breakglass' ? '/break-glass' : (subjectHref(subject) ?? '/');

interface PreviewShown {
  readonly title: string;
  /** Submitted values, kept hidden. */
  readonly values: Values;
  readonly preview: ValidPreview;
  /** Absent: not counted yet. */
  readonly exact?: BacktestAnswer | undefined;
  /** It was sent without the confirmation it needs. */
  readonly unconfirmed?: true;
}

/** Preview before the edit. */
export const previewPage = (
  user: User,
  { title, values, preview, exact, unconfirmed }: PreviewShown,
  telling: PageFormat,
): Markup => (
  <ConsolePage title={`Check: ${title}`} at="/" user={user}>
    <div class="head">
      <div>
        <h1>{title}</h1>
        <p>Not saved yet. Look at what it does, then save it.</p>
      </div>
    </div>
    {unconfirmed && <NotSaved why="this is a large change and needs to be confirmed" />}
    {previewPart(preview, telling, exact)}
    <PostForm user={user} class="card" id={SAVE_FORM} action="/edit">
      {hiddenFields(withoutStep(values))}
      <p>
        <span class="soft">Why:</span> {values.why ?? values.reason ?? values.note}
      </p>
      {confirmPart(preview, telling)}
      <div class="actions">
        <button class="main" name="step" value="apply" disabled={preview.rows.length === 0}>
          {preview.needsApproval.length > 0 ? 'File a request' : 'Save'}
        </button>
        <button name="step" value="change" formnovalidate>
          Change
        </button>
        <a class="button" href={backOf(values)}>
          Cancel
        </a>
      </div>
    </PostForm>
  </ConsolePage>
);

/** The page itself has them. */
const NOT_ALONG: ReadonlySet<string> = new Set(['step', 'confirmed', 'cursor']);

export const withoutStep = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !NOT_ALONG.has(name)));

export const untouched = (kind: EditKind, form: EditForm, values: Values): EditFormView => ({
  kind,
  form,
  values,
  problems: NO_PROBLEMS,
  others: [],
});
