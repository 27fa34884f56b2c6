import { Hono } from 'hono';
import type { MeAnswer } from '../../answers/groups/me.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import type { OwnSessionRow } from '../../core/signin/sessions.ts';
import { ConsolePage } from './frame.tsx';
import { type PagesDeps, readValues, send } from './page-deps.ts';
import { distance, pageCount } from './parts/amounts.tsx';
import { Card, Columns, type Markup, PostForm, Table } from './parts/layout.tsx';

/** A user's sessions, each with a button to end it. @param all - undefined: unknown now */
function sessionsPart(user: User, all: readonly OwnSessionRow[] | undefined, nowMs: number): Markup | '' {
  if (all === undefined || all.length === 0) return '';
  const others = all.filter(({ isThis }) => !isThis);
  return (
    <Card id="sessions" title="Sessions">
      <Table label="Sessions" columns={['Where', 'Signed in', 'Last seen', [<span class="hidden">Do</span>]]}>
        <tbody>{all.map((session) => line(user, session, nowMs))}</tbody>
      </Table>
      {others.length > 1 && (
        <PostForm user={user} class="actions" action="/me/sessions">
          <button class="danger" name="step" value="others">
            Sign out everywhere else
          </button>
        </PostForm>
      )}
      <p class="soft">
        Sign out a session that you do not know, and change your password in GitLab. Each session ends after
        ten hours.
      </p>
    </Card>
  );
}

function line(user: User, session: OwnSessionRow, nowMs: number): Markup {
  const { handle, isTerminal, isThis, beganAgoMs, seenAgoMs } = session;
  const began = distance(nowMs - beganAgoMs, nowMs);
  return (
    <tr>
      <th scope="row">
        {isTerminal ? 'A terminal' : 'A browser'} {isThis && <span class="tag good">this one</span>}
      </th>
      <td data-l="signed in">{began}</td>
      <td data-l="seen">{distance(nowMs - seenAgoMs, nowMs)}</td>
      <td>
        {!isThis && (
          <PostForm user={user} action="/me/sessions">
            <input type="hidden" name="handle" value={handle} />
            <button>
              Sign out<span class="hidden"> the one of {began}</span>
            </button>
          </PostForm>
        )}
      </td>
    </tr>
  );
}

/** The user, the user's rights and sessions. */
export function meRoutes({ read, sessions, log, clock }: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();

  app.get('/me', async (c) => {
    const { user } = c.var;
    const [me, signedIn] = await Promise.all([read.me(user), sessionsOf(user)]);
    return send(c, mePage(user, me, sessionsPart(user, signedIn, clock.nowMs())));
  });

  app.post('/me/sessions', async (c) => {
    const { step, handle = '' } = await readValues(c);
    const isOther = step === 'others';
    if (sessions !== undefined && (isOther || handle !== ''))
      await sessions.end(c.var.user, isOther ? 'others' : { handle });
    return c.redirect('/me', 303);
  });

  return app;

  /** Undefined: not available now. */
  async function sessionsOf(user: User): Promise<readonly OwnSessionRow[] | undefined> {
    try {
      return await sessions?.list(user);
    } catch (error) {
      log.warn('sessions not read', { error: error instanceof Error ? error.name : 'unknown' });
      return undefined;
    }
  }
}

const ROLE_SENTENCES: Readonly<Record<MeAnswer['roles'][number], string>> = {
  admin: 'Administrator: everything, also switching rules back.',
  finance: 'Finance: set, raise and grant everywhere, approve what others ask for.',
  owner:
    'Owner: see your groups and all below, tighten and freeze them; loosen what an enforced limit above still holds.',
  viewer: 'Viewer: see your groups and all below, ask for more.',
};

const mePage = (user: User, me: MeAnswer, signedIn: Markup | ''): Markup => (
  <ConsolePage title="My account" at="none" user={user}>
    <div class="head">
      <div>
        <h1>{me.name}</h1>
        <p>{me.username} in GitLab</p>
      </div>
    </div>
    <Card id="may" title="Your rights">
      {me.roles.length === 0 ? (
        <p>
          <strong>You are signed in, and nothing is yours to see.</strong> Rights come from membership in
          GitLab’s groups and are read again every 15 minutes. Ask the platform team which groups give them.
        </p>
      ) : (
        <>
          <ul>
            {me.roles.map((role) => (
              <li>{ROLE_SENTENCES[role]}</li>
            ))}
          </ul>
          <p class="soft">From your groups in GitLab, read again every 15 minutes.</p>
        </>
      )}
      {me.waiting > 0 && (
        <p>
          <a href="/requests">{pageCount(me.waiting, 'request')}</a> {me.waiting === 1 ? 'waits' : 'wait'} for
          somebody with your rights.
        </p>
      )}
    </Card>
    {me.seesAll ? (
      <Card id="see" title="Groups you see">
        <p>The whole GitLab.</p>
      </Card>
    ) : (
      me.groups.length > 0 && (
        <Card id="see" title="Groups you see">
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
    {signedIn}
    <PostForm user={user} class="actions" action="/signout">
      <button>Sign out</button>
    </PostForm>
  </ConsolePage>
);
