import type { BacktestAnswer } from '../../../answers/limits/edit-models.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import type { ApplyOutcome } from '../../../core/limits/edit-model.ts';
import type { ChangeRow } from '../../../core/limits/limit-changes.ts';
import type { User } from '../../../core/signin/model.ts';
import { ConsolePage } from '../frame.tsx';
import {
  distance,
  instant,
  leftClass,
  leftText,
  limitAmountWords,
  NOT_COUNTED,
  type PageFormat,
  pageAmount,
} from '../parts/amounts.tsx';
import { SAVE_FORM } from '../parts/backtest-part.tsx';
import { type FieldProblems, field, hiddenFields, problemList, type Values } from '../parts/form-field.tsx';
import { address, Card, type Markup, NotSaved, PostForm, subjectHref } from '../parts/layout.tsx';
import { confirmPart, previewPart, type ValidPreview } from '../parts/preview-part.tsx';
import { changeTable } from '../parts/tables.tsx';
import type { EditForm, EditKind } from './forms.ts';

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

const withoutStep = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !NOT_ALONG.has(name)));

export const untouched = (kind: EditKind, form: EditForm, values: Values): EditFormView => ({
  kind,
  form,
  values,
  problems: NO_PROBLEMS,
  others: [],
});

type Stale = Extract<ApplyOutcome, { outcome: 'stale' }>;

interface Again {
  /** Submitted values; absent: they cannot be applied again. */
  readonly values?: Values;
  readonly back: string;
  /** Another remedy. */
  readonly hint?: string;
}

/** Page for a conflicting edit, with both versions. */
export const stalePage = (user: User, stale: Stale, again: Again, telling: PageFormat): Markup => {
  const { live, mine, theirs } = stale;
  const values = again.values && { ...withoutStep(again.values), base: live?.pointer.set ?? '' };
  return (
    <ConsolePage title="Changed meanwhile" at={values === undefined ? '/import' : '/'} user={user}>
      <div class="head">
        <div>
          <h1>Changed by another user meanwhile</h1>
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
            'The version you began with is gone, so your change cannot be compared with it.',
            telling,
          )}
        </Card>
        <Card id="theirs" title="Saved since you began">
          {rowsOr(theirs, 'The changes of others are no longer known here. Look at the history.', telling)}
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
    </ConsolePage>
  );
};

/** The last edit may concern a hidden group. */
const seesAll = ({ roles }: User): boolean => roles.admin || roles.finance;

const rowsOr = (rows: readonly ChangeRow[] | undefined, sentence: string, telling: PageFormat): Markup =>
  rows === undefined ? (
    <p class="soft">{sentence}</p>
  ) : rows.length === 0 ? (
    <p class="soft">Nothing of the same groups.</p>
  ) : (
    changeTable(rows, 'Differences', telling)
  );
