import type { Me } from '../../answers/view/me.ts';
import type { BreakGlassState } from '../../core/limits/desk/break-glass-state.ts';
import type { HistoryPage } from '../../core/limits/desk/history.ts';
import type { User } from '../../core/signin/user.ts';
import { Page } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import { historyPart } from './parts/history-part.tsx';
import { Card, Columns, Done, Fact, PostForm } from './parts/layout.tsx';
import { address, subjectLink } from './parts/links.tsx';
import type { Markup } from './parts/markup.ts';
import { counted, distance, edge, type Telling } from './parts/told.tsx';

/** Who was let in past limits, what is left of it, and whether somebody has looked at it. */
export function breakGlassPage(
  user: User,
  all: readonly BreakGlassState[],
  may: boolean,
  done: string | undefined,
  telling: Telling,
): Markup {
  return (
    <Page title="Break-glass" at="/break-glass" user={user}>
      <div class="head">
        <div>
          <h1>Break-glass</h1>
          <p>
            Named people’s jobs, or those of protected refs, that may pass limits for a time. Always charged,
            never past security rules.
          </p>
        </div>
        {may && (
          <div class="actions">
            <a class="button" href="/edit?kind=breakglass&amp;subject=instance">
              For the whole GitLab
            </a>
          </div>
        )}
      </div>
      <Done text={done} />
      {all.length === 0 ? (
        <div class="card">
          <p>Nobody was let in by breaking glass.</p>
          {may && <p class="soft">To open one for a group, go to its page and choose “Break glass”.</p>}
        </div>
      ) : (
        all.map((each) => breakGlassCard(each, mayOpen('GET /edit', user.roles), telling))
      )}
    </Page>
  );
}

const personText = (id: number, names: BreakGlassState['userNames'] = {}): string =>
  names[id] === undefined ? String(id) : `${names[id]} (${id})`;

function breakGlassCard(glass: BreakGlassState, mayEdit: boolean, telling: Telling): Markup {
  const {
    id,
    subject,
    path,
    users,
    jobs,
    per,
    used,
    untilMs,
    fromMs,
    reason,
    ticket,
    by,
    open,
    toReview,
    zone = 'UTC',
  } = glass;
  const who = [
    users.length > 0
      ? `jobs of ${users.length === 1 ? 'user' : 'users'} ${users.map((each) => personText(each, glass.userNames)).join(', ')}`
      : 'everybody’s jobs',
    glass.protected ? 'on protected refs' : '',
  ];
  const edit = (kind: string): string =>
    address('/edit', {
      kind,
      breakglass: id,
      subject: /^(group|project)\/|^instance$/.test(subject) ? subject : undefined,
    });
  return (
    <article class="card" aria-labelledby={`g-${id}`}>
      <h2 id={`g-${id}`}>
        <span>
          {subjectLink(subject, path ?? (subject === 'instance' ? 'The whole GitLab' : subject))}{' '}
          {open ? (
            <span class="tag bad">open</span>
          ) : fromMs > telling.nowMs ? (
            <span class="tag">to come</span>
          ) : (
            <span class="tag">over</span>
          )}{' '}
          {toReview && <span class="tag warn">to review</span>}
        </span>
        <small class="soft">
          {by !== undefined && <>by {by}, </>}
          {distance(fromMs, telling.nowMs)}
        </small>
      </h2>
      <p>
        {reason}
        {ticket !== undefined && (
          <>
            {' '}
            <small class="soft">{ticket}</small>
          </>
        )}
      </p>
      <dl class="facts">
        <Fact name="Whose">{who.filter((part) => part !== '').join(' ')}</Fact>
        <Fact name="Let in">
          {used.toLocaleString('en-US')} of {counted(jobs, 'job')}
          {per !== 'once' && <> per {per}</>}
        </Fact>
        <Fact name="Until">
          {edge(untilMs, 'end', { zone })} ({distance(untilMs, telling.nowMs)})
        </Fact>
        {glass.reviewedBy !== undefined && (
          <Fact name="Reviewed">
            by {glass.reviewedBy}
            {glass.note !== undefined && <>: {glass.note}</>}
          </Fact>
        )}
      </dl>
      <div class="actions">
        {mayEdit && open && (
          <a class="button" href={edit('end-breakglass')}>
            End it now
          </a>
        )}
        {mayEdit && toReview && (
          <a class="button" href={edit('review-breakglass')}>
            Review it
          </a>
        )}
      </div>
    </article>
  );
}

export const historyPage = (
  user: User,
  history: HistoryPage,
  subject: string | undefined,
  done: string | undefined,
  telling: Telling,
): Markup => (
  <Page title="History" at="/history" user={user}>
    <div class="head">
      <div>
        <h1>History of edits</h1>
        <p>
          {subject === undefined ? (
            'Every change of a limit you may see, newest first.'
          ) : (
            <>
              Of {subjectLink(subject, subject)}. <a href="/history">All</a>
            </>
          )}
        </p>
      </div>
    </div>
    <Done text={done} />
    <section class="card" aria-label="Edits">
      {historyPart(history, subject, telling)}
    </section>
  </Page>
);

const ROLE_SENTENCES: Readonly<Record<Me['roles'][number], string>> = {
  admin: 'Administrator: everything, also switching rules back.',
  finance: 'Finance: set, raise and grant everywhere, approve what others ask for.',
  owner:
    'Owner: see your groups and all below, tighten and freeze them; loosen what an enforced limit above still holds.',
  viewer: 'Viewer: see your groups and all below, ask for more.',
};

export const mePage = (user: User, me: Me): Markup => (
  <Page title="Who am I" at="none" user={user}>
    <div class="head">
      <div>
        <h1>{me.name}</h1>
        <p>
          {me.username}, user {me.id} in GitLab
        </p>
      </div>
    </div>
    <Card id="may" title="What you may do">
      {me.roles.length === 0 ? (
        <p>
          <strong>You are signed in, and nothing is yours to see.</strong> Rights come from membership in
          GitLab’s groups and are read anew every 15 minutes. Ask whoever runs Tollgate which groups give
          them.
        </p>
      ) : (
        <>
          <ul>
            {me.roles.map((role) => (
              <li>{ROLE_SENTENCES[role]}</li>
            ))}
          </ul>
          <p class="soft">From your groups in GitLab; read anew every 15 minutes.</p>
        </>
      )}
      {me.waiting > 0 && (
        <p>
          <a href="/requests">{counted(me.waiting, 'request')}</a> {me.waiting === 1 ? 'waits' : 'wait'} for
          somebody with your rights.
        </p>
      )}
    </Card>
    {me.seesAll ? (
      <Card id="see" title="What you see">
        <p>The whole GitLab.</p>
      </Card>
    ) : (
      me.groups.length > 0 && (
        <Card id="see" title="What you see">
          <table>
            <caption class="hidden">Groups you see</caption>
            <Columns of={['Group and all below', 'As']} />
            <tbody>
              {me.groups.map(({ id, path, role }) => (
                <tr>
                  <th scope="row" class="path">
                    <a href={`/groups/${id}`}>{path}</a>
                  </th>
                  <td>{role}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      )
    )}
    <PostForm user={user} class="actions" action="/signout">
      <button>Sign out</button>
    </PostForm>
  </Page>
);
