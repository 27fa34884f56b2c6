import { Hono } from 'hono';
import type { BreakGlassState } from '../../core/limits/edit-model.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import { doneText, type PagesDeps, pageFormatOf, send } from './page-deps.ts';
import { distance, edge, type PageFormat, pageCount } from './parts/amounts.tsx';
import { address, Done, Fact, type Markup, subjectLink } from './parts/layout.tsx';

/** Break-glasses of all visible groups. */
export function breakGlassRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/break-glass', async (c) => {
    const { user } = c.var;
    const may = user.roles.admin || user.roles.finance;
    return send(c, breakGlassPage(user, await read.breakGlasses(user), may, doneText(c), pageFormatOf(deps)));
  });

  return app;
}

/** Lists break-glasses with remaining amounts and reviews. */
function breakGlassPage(
  user: User,
  all: readonly BreakGlassState[],
  may: boolean,
  done: string | undefined,
  telling: PageFormat,
): Markup {
  return (
    <ConsolePage title="Break-glass" at="/break-glass" user={user}>
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
          <p>No jobs were let in by breaking glass.</p>
          {may && <p class="soft">To open one for a group, go to its page and choose “Break glass”.</p>}
        </div>
      ) : (
        all.map((each) => breakGlassCard(each, mayOpen('GET /edit', user.roles), telling))
      )}
    </ConsolePage>
  );
}

const personText = (id: number, names: BreakGlassState['userNames'] = {}): string =>
  names[id] === undefined ? String(id) : `${names[id]} (${id})`;

function breakGlassCard(glass: BreakGlassState, mayEdit: boolean, telling: PageFormat): Markup {
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
  const names = users.map((each) => personText(each, glass.userNames));
  const who = [
    users.length > 0
      ? `jobs of ${users.length === 1 ? 'user' : 'users'} ${names.join(', ')}`
      : 'the jobs of all users',
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
          {used.toLocaleString('en-US')} of {pageCount(jobs, 'job')}
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
