import type { MeAnswer } from '../../answers/groups/me.ts';
import type { OwnSessionRow } from '../../core/signin/sessions.ts';
import { ConsolePage } from './frame.tsx';
import { type PageRoutes, readValues, send } from './page.ts';
import * as ui from './parts/ui.ts';

export const meRoutes: PageRoutes = (app, deps) => {
  const { read, sessions, log } = deps;
  app.get('/me', async (c) => {
    const { user } = c.var;
    const listed = (async () => sessions?.list(user))().catch((error: unknown) => {
      log.warn('sessions not read', { error: error instanceof Error ? error.name : 'unknown' });
      return undefined;
    });
    return send(c, mePage(await read.me(user), (await listed) ?? []));
  });
  app.post('/me/sessions', async (c) => {
    const { step, handle = '' } = await readValues(c);
    const isOther = step === 'others';
    if (isOther || handle !== '') await sessions?.end(c.var.user, isOther ? 'others' : { handle });
    return c.redirect('/me', 303);
  });
};

const ROLE_SENTENCES: Readonly<Record<MeAnswer['roles'][number], string>> = {
  admin: 'Administrator: you may do everything, including moving rollouts back.',
  finance: 'Finance: you may change and grant limits everywhere, and approve requests.',
  owner:
    'Owner: you see your groups and everything below, may tighten and freeze them, and may loosen limits that an enforced limit above still bounds.',
  viewer: 'Viewer: you see your groups and everything below, and may file requests.',
};

const mePage = (me: MeAnswer, sessions: readonly OwnSessionRow[]): ui.Markup => (
  <ConsolePage title="My account" at="none" heading={me.name} about={`${me.username} in GitLab`}>
    <ui.Card id="may" title="Your rights">
      {me.roles.length === 0 && (
        <p>
          <strong>You are signed in, but have no rights here.</strong> Ask the platform team.
        </p>
      )}
      <ui.List of={me.roles.map((role) => ROLE_SENTENCES[role])} />
      <p class="soft">Your rights come from your groups in GitLab. They are read again every 15 minutes.</p>
    </ui.Card>
    {(me.seesAll || me.groups.length > 0) && (
      <ui.Card id="see" title="Visible groups">
        <ui.List
          of={
            me.seesAll
              ? ['The whole GitLab']
              : me.groups.map(({ id, path, role }) => [<a href={`/groups/${id}`}>{path}</a>, `, as ${role}`])
          }
        />
      </ui.Card>
    )}
    {sessions.length > 0 && sessionsCard(sessions)}
  </ConsolePage>
);

const sessionsCard = (all: readonly OwnSessionRow[]): ui.Markup => {
  const ago = (ms: number): string => ui.distance(ui.format().nowMs - ms);
  return (
    <ui.Card id="sessions" title="Sessions">
      <ui.Table
        label="Sessions"
        columns={{
          Device: ({ isTerminal, isThis }) => (
            <>
              {isTerminal ? 'Terminal' : 'Browser'} {isThis && <span class="tag good">this session</span>}
            </>
          ),
          'Sign-in': ({ beganAgoMs }) => ago(beganAgoMs),
          'Last use': ({ seenAgoMs }) => ago(seenAgoMs),
          [ui.DO]: ({ isThis, handle, beganAgoMs }) =>
            !isThis && (
              <ui.PostForm action="/me/sessions">
                <input type="hidden" name="handle" value={handle} />
                <button>Sign out{ui.hidden(` the session of ${ago(beganAgoMs)}`)}</button>
              </ui.PostForm>
            ),
        }}
        rows={all}
      />
      {all.length > 2 && (
        <ui.PostForm class="actions" action="/me/sessions">
          <button class="danger" name="step" value="others">
            Sign out all other sessions
          </button>
        </ui.PostForm>
      )}
      <p class="soft">Each session ends after ten hours.</p>
    </ui.Card>
  );
};
