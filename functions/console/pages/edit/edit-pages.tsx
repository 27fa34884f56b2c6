import type { BacktestAnswer } from '../../../answers/backtest/model.ts';
import type { LimitRow } from '../../../answers/standing/model.ts';
import type { ApplyOutcome, ChangeRow } from '../../../core/limits/desk/outcome.ts';
import type { User } from '../../../core/signin/user.ts';
import { Page } from '../frame.tsx';
import { SAVE_FORM } from '../parts/backtest-part.tsx';
import { changeTable } from '../parts/change-table.tsx';
import { type FieldProblems, field, hiddenFields, problemList, type Values } from '../parts/form-field.tsx';
import { Card, PostForm } from '../parts/layout.tsx';
import { leftClass, leftText, limitAmount } from '../parts/limit-words.tsx';
import { address, subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { confirmPart, previewPart, type ValidPreview } from '../parts/preview-part.tsx';
import { amount, distance, instant, type Telling } from '../parts/told.tsx';
import type { EditForm } from './edit-form-parts.ts';
import type { EditKind } from './edit-kinds.ts';

export interface FormShown {
  readonly kind: EditKind;
  readonly form: EditForm;
  /** What stands in the fields, and what goes along unseen. */
  readonly values: Values;
  readonly problems: FieldProblems;
  readonly others: readonly string[];
}

const NO_PROBLEMS: FieldProblems = new Map();

export function editPage(user: User, shown: FormShown, telling: Telling): Markup {
  const { kind, form, values, problems, others } = shown;
  const all = [...form.fields, ...(form.more ?? [])];
  const names = new Set(all.map(({ name }) => name));
  const along = Object.fromEntries(
    Object.entries(values).filter(([name]) => !names.has(name) && name !== 'step'),
  );
  const labels = new Map(all.map(({ name, label }) => [name, label]));
  const moreOpen = form.more?.some(({ name }) => problems.has(name)) ?? false;
  return (
    <Page title={form.title} at="/" user={user}>
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
    </Page>
  );
}

/** What the number is in now, so that nobody has to remember it from the page before. */
const standingText = (limit: LimitRow, telling: Telling): Markup => {
  const { amount: whole, settled, held, unit, granted, period } = limit;
  return (
    <p>
      {period?.label ?? 'Now'}: {amount(settled, unit, telling)} spent and {amount(held, unit, telling)} held
      of {limitAmount(limit, telling)}
      {granted > 0 && <>, of which {amount(granted, unit, telling)} are granted for a time</>}.{' '}
      {whole === 'unlimited' ? (
        ''
      ) : (
        <>
          <span class={leftClass(limit)}>{leftText(limit, telling)}</span>
          {(limit.left ?? 0) < 0 ? '' : ' left'}.
        </>
      )}
    </p>
  );
};

/** Where an edit began: the page of what it is about, or the list that a break-glass stands in. */
export const backOf = ({ kind, subject = '' }: Values): string =>
  kind === 'end-breakglass' || kind === 'review-breakglass' ? '/break-glass' : (subjectHref(subject) ?? '/');

export interface PreviewShown {
  readonly title: string;
  /** What the form was sent with; goes along. */
  readonly values: Values;
  readonly preview: ValidPreview;
  /** Absent: not counted yet. */
  readonly exact?: BacktestAnswer | undefined;
  /** It was sent without the confirmation it needs. */
  readonly unconfirmed?: true;
}

/** What it would do, before it does it. */
export const previewPage = (
  user: User,
  { title, values, preview, exact, unconfirmed }: PreviewShown,
  telling: Telling,
): Markup => (
  <Page title={`Check: ${title}`} at="/" user={user}>
    <div class="head">
      <div>
        <h1>{title}</h1>
        <p>Not saved yet. Look at what it does, then save it.</p>
      </div>
    </div>
    {unconfirmed && (
      <div class="note bad" role="alert">
        <p>
          <strong>Not saved:</strong> this is a large change and needs to be confirmed.
        </p>
      </div>
    )}
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
  </Page>
);

export const withoutStep = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name !== 'step' && name !== 'confirmed'));

type Stale = Extract<ApplyOutcome, { outcome: 'stale' }>;

export interface Again {
  /** What the form was sent with; absent: it cannot be put on top of theirs. */
  readonly values?: Values;
  readonly back: string;
  /** What else to do. */
  readonly hint?: string;
}

/** Somebody else was faster: both versions, and nothing lost of either. */
export const stalePage = (user: User, stale: Stale, again: Again, telling: Telling): Markup => {
  const { live, mine, theirs } = stale;
  const values = again.values && { ...withoutStep(again.values), base: live?.pointer.set ?? '' };
  return (
    <Page title="Changed meanwhile" at={values === undefined ? '/import' : '/'} user={user}>
      <div class="head">
        <div>
          <h1>Somebody changed it meanwhile</h1>
          <p>
            Yours was not saved.
            {live !== undefined && (
              <>
                {' '}
                {seesAll(user) ? <>{live.change.actor} saved another version</> : 'Another version was saved'}{' '}
                {distance(live.change.atMs, telling.nowMs)}
                {seesAll(user) && <>: “{live.change.why}”</>} (edit {live.pointer.edit},{' '}
                {instant(live.change.atMs, telling)}).
              </>
            )}
          </p>
        </div>
      </div>
      <div class="compare">
        <Card id="mine" title="Yours, not saved">
          {rowsOr(
            mine,
            'The version you began with is gone, so what you changed cannot be told from it.',
            telling,
          )}
        </Card>
        <Card id="theirs" title="Saved since you began">
          {rowsOr(theirs, 'What the others changed cannot be told any more; look at the history.', telling)}
        </Card>
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
          <a class="button" href={again.back}>
            Keep theirs
          </a>
        </div>
      </PostForm>
    </Page>
  );
};

/** The last edit may have been about somebody else's group. */
const seesAll = ({ roles }: User): boolean => roles.admin || roles.finance;

const rowsOr = (rows: readonly ChangeRow[] | undefined, sentence: string, telling: Telling): Markup =>
  rows === undefined ? (
    <p class="soft">{sentence}</p>
  ) : rows.length === 0 ? (
    <p class="soft">Nothing of the same groups.</p>
  ) : (
    changeTable(rows, 'Differences', telling)
  );

export const untouched = (kind: EditKind, form: EditForm, values: Values): FormShown => ({
  kind,
  form,
  values,
  problems: NO_PROBLEMS,
  others: [],
});
