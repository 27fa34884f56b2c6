import { Hono } from 'hono';
import { expect } from 'vitest';
import { silentLog } from '../../functions/core/environment/machine.ts';
import type { Roles } from '../../functions/core/signin/user.ts';
import type { Change } from './change.ts';

const PAGES = 'functions/console/pages';

export const aConsolePage: Change = {
  what: 'a page of the console: the groups of who looks',
  filesMax: 4,
  patches: [
    {
      file: `${PAGES}/my-groups-page.tsx`,
      text: `import { Hono } from 'hono';
import type { SignInEnv } from '../../core/signin/index.ts';
import { ConsolePage } from './frame.tsx';
import { type PagesDeps, send } from './pages-deps.ts';

export function myGroupsRoutes({ read }: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();
  app.get('/my-groups', async (c) => {
    const { user } = c.var;
    const { groups } = await read.me(user);
    const page = (
      <ConsolePage title="My groups" at="/my-groups" user={user}>
        <ul>
          {groups.map(({ path }) => (
            <li>{path}</li>
          ))}
        </ul>
      </ConsolePage>
    );
    return send(c, page);
  });
  return app;
}
`,
    },
    {
      file: `${PAGES}/create-pages.ts`,
      before: 'import { overviewRoutes',
      insert: "import { myGroupsRoutes } from './my-groups-page.tsx';\n",
    },
    { file: `${PAGES}/create-pages.ts`, before: '  requestPageRoutes,\n', insert: '  myGroupsRoutes,\n' },
    {
      file: `${PAGES}/page-access.ts`,
      before: "  'GET /jobs': LOOK",
      insert: "  'GET /my-groups': LOOK,\n",
    },
    {
      file: `${PAGES}/page-access.ts`,
      before: "  { href: '/history'",
      insert: "  { href: '/my-groups', text: 'My groups' },\n",
    },
  ],
  shows: async (load) => {
    const { createPages } = await load(`${PAGES}/create-pages.ts`);
    const me = async () => ({ groups: [{ id: 100, path: 'acme', role: 'viewer' }] });
    const pages = createPages({ read: { me }, log: silentLog });
    const asks = (roles: Roles) => {
      const app = new Hono<{ Variables: { user: object } }>();
      app.use((c, next) => {
        c.set('user', { id: 1, username: 'vera', name: 'Vera', roles, sessionId: 's', csrfToken: 't' });
        return next();
      });
      return app.route('/', pages).request('/my-groups');
    };
    const nobody: Roles = { admin: false, finance: false, ownedGroupIds: [], viewerGroupIds: [] };
    expect((await asks(nobody)).status).toBe(403);
    const shown = await asks({ ...nobody, viewerGroupIds: [100] });
    expect(shown.status).toBe(200);
    const text = await shown.text();
    expect(text).toContain('<li>acme</li>');
    expect(text).toMatch(/<a href="\/my-groups"[^>]*>My groups/);
  },
};
