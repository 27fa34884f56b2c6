import type { Child } from 'hono/jsx';
import type { BacktestAnswer, EditEffect, PreviewAnswer } from '../../../answers/limits/models.ts';
import { actingUser } from '../../../answers/reading/context.ts';
import { poolText } from '../../../answers/status/texts.ts';
import type { LimitEdit, Oversubscription } from '../../../core/limits/edit-model.ts';
import type { EditAuthor } from '../../../core/limits/edit-outcomes.ts';
import { ConsolePage, type Frame } from '../frame.tsx';
import { type PageContext, type PagesDeps, send } from '../page.ts';
import { type EditAnswers, respondToEdit, sendUnknown } from '../problem-page.tsx';
import { backtestPart, countJobs, SAVE_FORM } from './backtest-part.tsx';
import * as ui from './ui.ts';

type ValidPreview = Extract<PreviewAnswer, { outcome: 'valid' }>;

const LINES_SHOWN = 10;

interface Review extends Omit<EditAnswers, 'unconfirmed'> {
  readonly edits: readonly LimitEdit[];
  readonly base: string | undefined;
  readonly values: ui.Values;
  readonly author: Pick<EditAuthor, 'why' | 'source'>;
  /** Saves the edit; otherwise only its effect is shown. */
  readonly isSaved: boolean;
  readonly unknown?: () => Promise<Response>;
  readonly page: (preview: ValidPreview) => ReviewParts;
}

interface ReviewParts extends Omit<Frame, 'actions'> {
  readonly notes?: Child;
  readonly action: string;
  readonly fields: Child;
  readonly save: string;
  readonly links: Child;
}

/** Shows the effect of edits and the form that saves them, or saves them. Hidden subjects cannot be edited. */
export async function reviewEdits(c: PageContext, deps: PagesDeps, review: Review): Promise<Response> {
  const { edits, base, values, author, isSaved, unknown = () => sendUnknown(c), page } = review;
  const { user } = c.var;
  const preview = await deps.read.preview(edits, base, user);
  if (preview.outcome === 'unknown_subject') return unknown();
  if (preview.outcome === 'invalid') return review.invalid(preview.problems);
  // An old set is never published again, so the edit is refused with both versions.
  if (!isSaved && !preview.stale) {
    const exact = await countJobs(deps, edits, base, values, user);
    return send(c, reviewPage(page(preview), preview, exact));
  }
  const by = { ...actingUser(user), ...author, base, confirmed: values.confirmed === 'yes' };
  return respondToEdit(c, deps, await deps.limitEdits.apply(edits, by), {
    ...review,
    unconfirmed: () => {
      const parts = page(preview);
      return send(c, reviewPage({ ...parts, notes: [UNCONFIRMED, parts.notes] }, preview), 409);
    },
  });
}

const UNCONFIRMED = (
  <ui.Note tone="bad" role="alert">
    <strong>Not saved:</strong> this change needs a confirmation. Tick “I confirm these changes” below, then
    save again.
  </ui.Note>
);

function reviewPage(parts: ReviewParts, preview: ValidPreview, exact?: BacktestAnswer): ui.Markup {
  const { notes, action, fields, save, links, ...frame } = parts;
  return (
    <ConsolePage {...frame}>
      {notes}
      {previewPart(preview, exact)}
      <ui.PostForm class="card" id={SAVE_FORM} action={action}>
        {fields}
        {confirmPart(preview)}
        <div class="actions">
          <button class="main" name="step" value="apply" disabled={preview.rows.length === 0}>
            {preview.needsApproval.length > 0 ? 'File request' : save}
          </button>
          {links}
        </div>
      </ui.PostForm>
    </ConsolePage>
  );
}

export const previewPart = (preview: ValidPreview, exact?: BacktestAnswer): ui.Markup => (
  <>
    <ui.Card id="differs" title="Changes" aside={ui.pageCount(preview.rows.length, 'difference')}>
      {ui.changeTable(preview.rows, 'Changes')}
    </ui.Card>
    {preview.effects.length > 0 && (
      <ui.Card id="effects" title="Effect">
        <ui.Table label="Effect" columns={EFFECTS} rows={preview.effects} />
      </ui.Card>
    )}
    {preview.rows.length > 0 && backtestPart(exact)}
    {preview.oversubscription.length > 0 && (
      <ui.Note tone="warn" lines={preview.oversubscription.map((pool) => poolLine(pool))} max={LINES_SHOWN}>
        <strong>Overlapping budgets.</strong> Allowed: the groups share the rest in order of arrival.
      </ui.Note>
    )}
    {preview.needsApproval.length > 0 && (
      <ui.Note tone="warn">
        <strong>Another user must approve this:</strong> it lets jobs use over 50 % more than the lowest limit
        of the last 30 days. Saving files a request.
      </ui.Note>
    )}
  </>
);

function confirmPart({
  needsConfirmation,
  lockout,
}: Pick<ValidPreview, 'needsConfirmation' | 'lockout'>): ui.Markup | '' {
  if (needsConfirmation.length + lockout.length === 0) return '';
  const linesOf = (isMode: boolean): readonly ui.Markup[] =>
    needsConfirmation
      .filter(({ field }) => (field === 'mode') === isMode)
      .map((row) => (
        <>
          {row.path ?? row.subject} <code>{row.limit}</code>: {ui.fieldText(row.from, row.unit)} →{' '}
          <strong>{ui.fieldText(row.to, row.unit)}</strong>
        </>
      ));
  const reasons: readonly (readonly [string, readonly Child[]])[] = [
    ['Jobs that are rejected now would be admitted:', linesOf(true)],
    ['These amounts change by more than a factor of three:', linesOf(false)],
    [LOCKOUT, lockout],
  ];
  return (
    <fieldset>
      <legend>Confirmation</legend>
      {reasons.map(
        ([text, lines]) =>
          lines.length > 0 && (
            <>
              <p>
                <strong class="warn-text">{text}</strong>
              </p>
              <ui.List of={lines} max={LINES_SHOWN} />
            </>
          ),
      )}
      <label class="check">
        <input type="checkbox" name="confirmed" value="yes" required />I confirm these changes
      </label>
    </fieldset>
  );
}

export const LOCKOUT = 'Jobs of the platform team would be rejected:';

const left = (limit: EditEffect['before']): Child => (limit ? ui.leftOfText(limit) : '–');
const runOut = (limit: EditEffect['before']): Child => (limit ? ui.runsOut(limit) : '–');
const EFFECTS: ui.Columns<EditEffect> = {
  Limit: ({ path, limit, before, after }) => {
    const known = after ?? before;
    return [path, ' ', ui.soft(known === undefined ? limit : ui.limitWords(known))];
  },
  'Left now': ({ before }) => left(before),
  'Run-out now': ({ before }) => runOut(before),
  'Left after': { cell: ({ after }) => left(after), tone: ({ after }) => ui.leftClass(after) },
  'Run-out after': ({ after }) => runOut(after),
};

const poolLine = (pool: Oversubscription): ui.Markup => (
  <>
    {pool.path ?? pool.subject} <code>{pool.limit}</code>:{' '}
    {poolText(pool, pool.amount, (whole) => ui.pageAmount(whole, pool.unit))}
  </>
);
