import type { DocumentProblem } from '../../../../policies/document/reading.ts';
import type { BacktestAnswer, RequestRow } from '../../../answers/limits/edit-models.ts';
import type { RequestedEdits } from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { countedFor, SAVE_FORM } from '../parts/backtest-part.tsx';
import type { Values } from '../parts/form-field.tsx';
import { Card, Crumbs, PostForm } from '../parts/layout.tsx';
import type { Markup } from '../parts/markup.ts';
import type { PageFormat } from '../parts/page-format.tsx';
import { previewPart, type ValidPreview } from '../parts/preview-part.tsx';
import { unknownPlace } from '../problem-page.tsx';
import { requestFacts, wantedText } from './request-facts.tsx';

const CHANGED = {
  outcome: 'invalid',
  problems: [{ path: [], message: 'was changed meanwhile: decline it, and have it asked for again' }],
} as const;

async function editsOf(row: RequestRow, { desk }: PagesDeps): Promise<RequestedEdits> {
  if (row.edit !== undefined) return (await desk.requested(row.id)) ?? { edits: [], stale: true };
  const { subject, limit, amount, from, until, reason, ticket } = row;
  const grant = { kind: 'grant', subject, limit, amount, from, until, reason } as const;
  return { edits: [{ ...grant, ...(ticket !== undefined && { ticket }) }], stale: false };
}

/** The same preview as of an edit that gives the grant: approving it is one. */
export async function showDecision(
  c: PageContext,
  deps: PagesDeps,
  row: RequestRow,
  values: Values,
): Promise<Response> {
  const { user } = c.var;
  const requested = await editsOf(row, deps);
  const given = { row, note: values.note ?? '', link: values.link };
  if (requested.stale) return send(c, decidePage(user, { ...given, preview: CHANGED }, pageFormatOf(deps)));
  const { edits } = requested;
  const base = (await deps.desk.live())?.pointer.set;
  const preview = await deps.read.preview(edits, base, user);
  if (preview.outcome === 'unknown_subject') return send(c, unknownPlace(user), 404);
  // The decision itself settles whose name stands on the grant.
  const shown =
    preview.outcome === 'valid'
      ? { ...preview, rows: preview.rows.filter(({ field }) => field !== 'by' && !field.endsWith('by_user')) }
      : preview;
  const exact = await countedFor(deps, edits, base, values, user);
  return send(c, decidePage(user, { ...given, preview: shown, exact }, pageFormatOf(deps)));
}

interface DecideShown {
  readonly row: RequestRow;
  /** Effect of an approval, or its refusal. */
  readonly preview:
    | ValidPreview
    | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] };
  /** Absent: not counted yet. */
  readonly exact?: BacktestAnswer | undefined;
  readonly note: string;
  /** The signed link of the visit. */
  readonly link?: string | undefined;
}

const lockoutPart = ({ lockout }: ValidPreview): Markup | '' =>
  lockout.length > 0 ? (
    <div class="note bad">
      <p>
        <strong>Jobs of the platform team would be rejected:</strong>
      </p>
      <ul>
        {lockout.slice(0, LOCKOUT_SHOWN).map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  ) : (
    ''
  );

const LOCKOUT_SHOWN = 10;

/** A request with the effect of its approval. */
const decidePage = (
  user: User,
  { row, preview, exact, note, link }: DecideShown,
  telling: PageFormat,
): Markup => (
  <ConsolePage title={`Decide: ${wantedText(row, telling)} for ${row.path}`} at="/requests" user={user}>
    <div class="head">
      <div>
        <Crumbs>
          <li>
            <a href="/requests">Requests</a>
          </li>
        </Crumbs>
        <h1>
          {wantedText(row, telling)} for {row.path}
        </h1>
        <p>Asked for by {row.requestedBy}. Look at what it does, then decide.</p>
      </div>
    </div>
    <Card id="asked" title="Request">
      {requestFacts(row, telling)}
    </Card>
    {preview.outcome === 'valid' ? (
      <>
        {previewPart({ ...preview, needsApproval: [] }, telling, exact)}
        {lockoutPart(preview)}
      </>
    ) : (
      <div class="note bad" role="alert">
        <p>
          <strong>It no longer fits the limits.</strong>
        </p>
        <ul>
          {preview.problems.map(({ message }) => (
            <li>{message}</li>
          ))}
        </ul>
      </div>
    )}
    <PostForm user={user} class="card" id={SAVE_FORM} action={`/requests/${row.id}`}>
      {link !== undefined && <input type="hidden" name="link" value={link} />}
      <div class="field">
        <label for="f-note">
          Note <small class="soft">required to decline</small>
        </label>
        <input id="f-note" name="note" value={note} maxlength={500} autocomplete="off" />
      </div>
      <div class="actions">
        <button class="main" name="verdict" value="approve" disabled={preview.outcome === 'invalid'}>
          Approve
        </button>
        <button class="danger" name="verdict" value="decline">
          Decline
        </button>
        <a class="button" href="/requests">
          Cancel
        </a>
      </div>
    </PostForm>
  </ConsolePage>
);
