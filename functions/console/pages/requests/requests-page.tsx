import type { RequestRow } from '../../../answers/requests/model.ts';
import type { SubjectView } from '../../../answers/subject/model.ts';
import type { ApplyOutcome } from '../../../core/limits/desk/outcome.ts';
import { whoMayText } from '../../../core/limits/desk/rights-words.ts';
import type { User } from '../../../core/signin/user.ts';
import { grantFields } from '../edit/exception-forms.ts';
import { Page } from '../frame.tsx';
import { type FieldProblems, field, problemList, type Values } from '../parts/form-field.tsx';
import { Card, Done, PostForm } from '../parts/layout.tsx';
import { leftText, limitAmount, limitWords } from '../parts/limit-words.tsx';
import { subjectHref, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, type Telling } from '../parts/told.tsx';
import { problemPage } from '../problem-page.tsx';
import { requestFacts, wantedText } from './request-facts.tsx';

/** What waits, and what became of the others. */
export function requestsPage(
  user: User,
  rows: readonly RequestRow[],
  done: string | undefined,
  telling: Telling,
): Markup {
  const waiting = rows.filter(({ state, expiresAtMs }) => state === 'pending' && expiresAtMs > telling.nowMs);
  const over = rows.filter((row) => !waiting.includes(row));
  return (
    <Page title="Requests" at="/requests" user={user}>
      <div class="head">
        <div>
          <h1>Requests for more</h1>
          <p>Whoever asks never decides: somebody else does.</p>
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
            <p>Nothing is waiting for anybody.</p>
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
    </Page>
  );
}

const OVER_SHOWN = 50;

function waitingCard(row: RequestRow, telling: Telling): Markup {
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
          {own ? 'You asked for it, so somebody else decides.' : 'You may not decide this one.'}
        </p>
      )}
    </article>
  );
}

const overLine = (row: RequestRow, telling: Telling): Markup => (
  <li>
    {stateTag(row)} <strong>{wantedText(row, telling)}</strong> for {subjectLink(row.subject, row.path)}:{' '}
    {row.reason}
    <p class="soft">
      asked by {row.requestedBy}
      {row.decidedBy !== undefined && <>, decided by {row.decidedBy}</>}
      {row.decidedAtMs !== undefined && <> {distance(row.decidedAtMs, telling.nowMs)}</>}
      {row.note !== undefined && <>: {row.note}</>}
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

export interface AskShown {
  readonly view: SubjectView;
  readonly values: Values;
  readonly problems: FieldProblems;
  readonly others: readonly string[];
}

/** "Ask for more". */
export function askPage(user: User, { view, values, problems, others }: AskShown, telling: Telling): Markup {
  const fields = [
    ...grantFields(view.limits, view.zone),
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
    <Page title={`Ask for more for ${view.path}`} at="/requests" user={user}>
      <div class="head">
        <div>
          <h1>Ask for more for {view.path}</h1>
          <p>Whoever may grant it sees your request under “Requests”.</p>
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
                  {(limit.left ?? 0) < 0 ? '' : ' left'} of {limitAmount(limit, telling)}
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
    </Page>
  );
}

/** For which group. */
export const chooseGroupPage = (
  user: User,
  groups: readonly { readonly id: number; readonly path: string }[],
): Markup => (
  <Page title="Ask for more" at="/requests" user={user}>
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
  </Page>
);

const GROUPS_SHOWN = 100;

type NeedsApproval = Extract<ApplyOutcome, { outcome: 'needs_approval' }>;

export const approvalPage = (user: User, { by, request }: NeedsApproval, back: string): Markup =>
  problemPage(user, {
    title: request === undefined ? 'Needs somebody else' : 'Request filed',
    sentence:
      request === undefined
        ? `Nothing was changed: this must be approved by somebody else, who is ${whoMayText('approve', by)}.`
        : `Nothing is changed yet: somebody else, who is ${whoMayText('approve', by)}, must approve it.`,
    remedy:
      request === undefined
        ? 'Too many requests are waiting already: some must be decided or expire first.'
        : 'You find it under “Requests”, and so do they.',
    link:
      request === undefined ? { href: back, text: 'Back' } : { href: '/requests', text: 'To the requests' },
  });
