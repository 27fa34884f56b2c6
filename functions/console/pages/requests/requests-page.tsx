import type { RequestRow } from '../../../answers/limits/edit-models.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { Card, Done } from '../parts/layout.tsx';
import { outside, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, type PageFormat } from '../parts/page-format.tsx';
import { requestFacts, wantedText } from './request-facts.tsx';

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
