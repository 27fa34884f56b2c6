import type { Hono } from 'hono';
import { type Administration, ROUTER_FLAGS } from './administration.ts';

/** Runners ask it, with their own token. */
export const DISCOVERY_PATH = '/runners/router/discovery';
const ROUTER_URL = 'wss://kas.gitlab.localhost';

/** What an instance says of itself: metadata, licence, flags, its token and where its job router is. */
export function instanceRoutes(
  app: Hono,
  administration: Administration,
  isRunner: (token: string) => boolean,
): void {
  const { setting, version } = administration;
  const urlNow = () => (setting.routerUrl === undefined ? ROUTER_URL : setting.routerUrl);

  app.get('/metadata', (c) => {
    const routerUrl = urlNow();
    return c.json({
      version: `${version}.0-ee`,
      revision: 'ceb07b24cb0',
      kas: {
        enabled: routerUrl !== null,
        externalUrl: routerUrl,
        externalK8sProxyUrl: routerUrl === null ? null : 'https://kas.gitlab.localhost/k8s-proxy',
        version: routerUrl === null ? null : `${version}.0`,
      },
      enterprise: true,
    });
  });

  app.get('/license', (c) => {
    if (!administration.isAdministrator) return c.json({ message: '403 Forbidden' }, 403);
    const { licence } = administration;
    if (licence === 'none') return c.json(null);
    return c.json({
      id: 2,
      plan: licence,
      created_at: '2026-01-27T23:21:58.674Z',
      starts_at: '2026-01-27',
      expires_at: '2027-01-27',
      historical_max: 300,
      maximum_user_count: 300,
      expired: false,
      overage: 0,
      user_limit: 400,
      active_users: 300,
      licensee: { Name: 'Local Person', Email: 'local@example.com', Company: 'Local' },
      add_ons: {},
    });
  });

  app.get('/features', (c) => {
    if (!administration.isAdministrator) return c.json({ message: '403 Forbidden' }, 403);
    const flags = Object.entries(administration.flags());
    return c.json(
      flags.map(([name, state]) => ({
        name,
        state,
        gates: [{ key: 'boolean', value: state === 'on' }],
        definition: definitionOf(name),
      })),
    );
  });
  app.get('/features/definitions', (c) => {
    if (!administration.isAdministrator) return c.json({ message: '403 Forbidden' }, 403);
    return c.json(
      ROUTER_FLAGS.map((name) => ({ ...definitionOf(name), milestone: '18.9', log_state_changes: null })),
    );
  });

  app.get('/application/settings', (c) => {
    if (!administration.isAdministrator) return c.json({ message: '403 Forbidden' }, 403);
    return c.json({
      id: 1,
      signup_enabled: true,
      admin_mode: false,
      allow_local_requests_from_hooks_and_services: false,
      allow_local_requests_from_web_hooks_and_services: false,
      allow_local_requests_from_system_hooks: true,
      outbound_local_requests_whitelist: [],
      silent_mode_enabled: false,
      project_jobs_api_rate_limit: 600,
      runner_jobs_request_api_limit: 2_000,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
      ...setting.applicationSettings,
    });
  });

  app.get('/personal_access_tokens/self', (c) =>
    c.json({
      id: 4,
      name: 'setup',
      description: null,
      revoked: false,
      created_at: '2026-11-20T08:50:25.000Z',
      scopes: setting.scopes ?? ['api', 'admin_mode'],
      user_id: 1,
      last_used_at: '2026-11-21T17:57:08.000Z',
      active: true,
      expires_at: setting.expiresAt ?? null,
    }),
  );

  app.get(DISCOVERY_PATH, (c) => {
    const routerUrl = urlNow();
    const token = c.req.header('runner-token') ?? '';
    if (token === '' || !(token === setting.runnerToken || isRunner(token)))
      return c.json({ message: '403 Forbidden' }, 403);
    if (routerUrl === null || administration.flags().job_router_instance_runners !== 'on')
      return c.json({ message: '501 Job Router is not available. Please contact your administrator.' }, 501);
    return c.json({ server_url: routerUrl });
  });
}

const definitionOf = (name: string): object => ({
  name,
  introduced_by_url: 'https://gitlab.com/gitlab-org/gitlab/-/merge_requests/218229',
  rollout_issue_url: null,
  group: 'group::runner core',
  type: 'wip',
  default_enabled: false,
});
