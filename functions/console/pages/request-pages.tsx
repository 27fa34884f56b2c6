import type { DocumentProblem } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { type Edge, edgeText } from '../../../policies/text/edge-text.ts';
import { unitRow } from '../../../policies/unit.ts';
import type { SubjectView } from '../../answers/groups/model.ts';
import type { BacktestAnswer, RequestRow } from '../../answers/limits/edit-models.ts';
import type { RequestedEdits } from '../../core/limits/edit-model.ts';
import type { User } from '../../core/signin/model.ts';
import { grantFormFields } from './edit/forms.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, send } from './page-deps.ts';
import {
  distance,
  instant,
  leftText,
  limitAmountWords,
  limitWords,
  type PageFormat,
  pageCount,
} from './parts/amounts.tsx';
import { countedFor, SAVE_FORM } from './parts/backtest-part.tsx';
import { type FieldProblems, field, problemList, type Values } from './parts/form-field.tsx';
import {
  Card,
  Crumbs,
  Done,
  Fact,
  type Markup,
  outside,
  PostForm,
  subjectHref,
  subjectLink,
} from './parts/layout.tsx';
import { previewPart, type ValidPreview } from './parts/preview-part.tsx';
import { fieldText } from './parts/tables.tsx';
import { unknownPlace } from './problem-page.tsx';

/** `+200 EUR`, or of an edit `money-month: 300.00 EUR → 900.00 EUR`. */
export function wantedText({ amount, edit, limitNow }: RequestRow, telling: PageFormat): string {
  if (edit === undefined)
    return `+${String(amount).replace(/^\+/, '')}${limitNow !== undefined && unitRow(limitNow.unit).inCurrency ? ` ${telling.currency}` : ''}`;
  const row = edit.rows.find(({ field }) => field === 'amount') ?? edit.rows[0];
  if (row === undefined) return pageCount(edit.count, 'difference');
  const more = edit.count > 1 ? ` and ${edit.count - 1} more` : '';
  const what = row.field === 'amount' ? row.limit : `${row.limit} ${row.field}`;
  const [from, to] = [row.from, row.to].map((value) => fieldText(value, row.unit, telling));
  return `${what}: ${from} → ${to}${more}`;
}

/** Why, for when, and how the limit stands. */
const requestFacts = (row: RequestRow, telling: PageFormat): Markup => {
  const { reason, limit, limitNow, ticket, link, expiresAtMs } = row;
  return (
    <>
      <p>{reason}</p>
      <dl class="facts">
        {row.from !== undefined && <Fact name="Counts">{spanText(row)}</Fact>}
        <Fact name="Limit">
          {limitNow === undefined ? (
            <code>{limit}</code>
          ) : (
            <>
              {limitWords(limitNow)}: {leftText(limitNow, telling)}
              {(limitNow.left ?? 0) < 0 ? '' : ' left'} of {limitAmountWords(limitNow, telling)}
            </>
          )}
        </Fact>
        <Fact name="Ticket">{ticket}</Fact>
        {link !== undefined && <Fact name="From">{outside(link, link)}</Fact>}
        <Fact name="Waits until">{instant(expiresAtMs, telling)}</Fact>
      </dl>
    </>
  );
};

/** In the limit's zone, which is what its days are meant in; as it was written where the limit is gone. */
function spanText({ from = '', until = '', limitNow }: RequestRow): string {
  const said = (written: string, which: Edge): string => {
    const zone = limitNow?.zone;
    const atMs = zone === undefined ? undefined : readInstant(written, which, zone);
    return zone === undefined || atMs === undefined ? written : edgeText(atMs, which, zone);
  };
  // Both edges are of one zone, which the second names.
  const begins = said(from, 'start').replace(` ${limitNow?.zone}`, '');
  return `${begins} to ${said(until, 'end')}`;
}

/** Waiting and decided requests. */
export function requestsPage(
  user: User,
  rows: readonly RequestRow[],
  done: string | undefined,
  telling: PageFormat,
): Markup {
  const waiting = rows.filter(({ state, expiresAtMs }) => state === 'pending' && expiresAtMs > telling.nowMs);
  const over = rows.filter((row) => !waiting.includes(row));
  return (
    <ConsolePage title="Requests" at="/requests" user={user}>
      <div class="head">
        <div>
          <h1>Requests for more</h1>
          <p>A request is never decided by the user who made it.</p>
        </div>
        <div class="actions">
          <a class="button main" href="/ask">
            Ask for more
          </a>
        </div>
      </div>
      <Done text={done} />
      <section aria-labelledby="waiting">
        <h2 id="waiting" class="hidden">
          Waiting
        </h2>
        {waiting.length === 0 ? (
          <div class="card">
            <p>No requests are waiting.</p>
          </div>
        ) : (
          waiting.map((row) => waitingCard(row, telling))
        )}
      </section>
      {over.length > 0 && (
        <Card id="over" title="Decided">
          <ol class="timeline">{over.slice(0, OVER_SHOWN).map((row) => overLine(row, telling))}</ol>
        </Card>
      )}
    </ConsolePage>
  );
}

const OVER_SHOWN = 50;

function waitingCard(row: RequestRow, telling: PageFormat): Markup {
  const { id, subject, path, mayDecide, own } = row;
  return (
    <article class="card" aria-labelledby={`r-${id}`}>
      <h2 id={`r-${id}`}>
        <span>
          {wantedText(row, telling)} for {subjectLink(subject, path)}
        </span>
        <small class="soft">
          {row.requestedBy}, {distance(row.requestedAtMs, telling.nowMs)}
        </small>
      </h2>
      {requestFacts(row, telling)}
      {mayDecide ? (
        <div class="actions">
          <a class="button main" href={`/requests/${id}`}>
            Look at it and decide<span class="hidden"> for {path}</span>
          </a>
        </div>
      ) : (
        <p class="soft">
          {own ? 'You asked for it, so another user decides.' : 'You may not decide this one.'}
        </p>
      )}
    </article>
  );
}

const overLine = (row: RequestRow, telling: PageFormat): Markup => (
  <li>
    {stateTag(row)} <strong>{wantedText(row, telling)}</strong> for {subjectLink(row.subject, row.path)}:{' '}
    {row.reason}
    <p class="soft">
      asked by {row.requestedBy}
      {row.decidedBy !== undefined && <>, decided by {row.decidedBy}</>}
      {row.decidedAtMs !== undefined && <> {distance(row.decidedAtMs, telling.nowMs)}</>}
      {row.note !== undefined && <>: {row.note}</>}
      {row.state === 'approved' && row.link !== undefined && (
        <> · {outside(row.link, 'Retry the job in GitLab')}</>
      )}
    </p>
  </li>
);

function stateTag({ state, granted }: RequestRow): Markup {
  switch (state) {
    case 'approved':
      return <span class="tag good">{granted ? 'granted' : 'approved'}</span>;
    case 'declined':
      return <span class="tag bad">declined</span>;
    case 'pending':
      return <span class="tag">expired</span>;
  }
}

interface AskShown {
  readonly view: SubjectView;
  readonly values: Values;
  readonly problems: FieldProblems;
  readonly others: readonly string[];
}

/** "Ask for more". */
export function askPage(
  user: User,
  { view, values, problems, others }: AskShown,
  telling: PageFormat,
): Markup {
  const fields = [
    ...grantFormFields(view.limits, view.zone),
    {
      name: 'link',
      label: 'The job it is about',
      type: 'url',
      max: 500,
      hint: 'Its address in GitLab.',
    } as const,
  ];
  const labels = new Map(fields.map(({ name, label }) => [name, label]));
  return (
    <ConsolePage title={`Ask for more for ${view.path}`} at="/requests" user={user}>
      <div class="head">
        <div>
          <h1>Ask for more for {view.path}</h1>
          <p>Users who may grant it see your request under “Requests”.</p>
        </div>
      </div>
      {problemList(problems, others, labels)}
      {view.limits.every((limit) => limit.amount === 'unlimited') ? (
        <div class="card">
          <p>
            It has no limit of its own to add to. The limits above it belong to others; ask for those there.
          </p>
          <p>
            <a class="button" href={subjectHref(view.subject) ?? '/'}>
              Back
            </a>
          </p>
        </div>
      ) : (
        <>
          <div class="card">
            <ul>
              {view.limits.map((limit) => (
                <li>
                  {limitWords(limit)}: {leftText(limit, telling)}
                  {(limit.left ?? 0) < 0 ? '' : ' left'} of {limitAmountWords(limit, telling)}
                </li>
              ))}
            </ul>
          </div>
          <PostForm user={user} class="card" action="/ask">
            <input type="hidden" name="subject" value={view.subject} />
            {fields.map((each) => field(each, values, problems))}
            <div class="actions">
              <button class="main">Send the request</button>
              <a class="button" href={subjectHref(view.subject) ?? '/'}>
                Cancel
              </a>
            </div>
          </PostForm>
        </>
      )}
    </ConsolePage>
  );
}

/** For which group. */
export const chooseGroupPage = (
  user: User,
  groups: readonly { readonly id: number; readonly path: string }[],
): Markup => (
  <ConsolePage title="Ask for more" at="/requests" user={user}>
    <div class="head">
      <h1>Ask for more</h1>
    </div>
    <Card id="which" title="For which group?">
      <form class="filters" method="get" action="/" role="search">
        <label>
          Search groups
          <input type="search" name="q" maxlength={200} />
        </label>
        <button>Search</button>
      </form>
      {groups.length > 0 && (
        <ul>
          {groups.slice(0, GROUPS_SHOWN).map(({ id, path }) => (
            <li>
              <a href={`/ask?subject=group/${id}`}>{path}</a>
            </li>
          ))}
        </ul>
      )}
      <p class="soft">Open the page of the group whose limit is in your way; “Ask for more” is at its top.</p>
    </Card>
  </ConsolePage>
);

const GROUPS_SHOWN = 100;

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
