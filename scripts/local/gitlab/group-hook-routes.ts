import type { Context, Hono } from 'hono';
import type { Administration } from './administration.ts';
import type { GroupHookBook, LocalHook, LocalHookEvent } from './group-hook-book.ts';
import { numberedPage } from './pagination.ts';
import { isoText } from './times.ts';

/** Hooks a top-level group may have by GitLab's default. */
const HOOKS_MAX = 50;
const OFF = [
  'tag_push_events',
  'merge_requests_events',
  'repository_update_events',
  'issues_events',
  'confidential_issues_events',
  'note_events',
  'confidential_note_events',
  'pipeline_events',
  'wiki_page_events',
  'job_events',
  'deployment_events',
  'feature_flag_events',
  'releases_events',
  'milestone_events',
  'subgroup_events',
  'emoji_events',
  'resource_access_token_events',
  'member_events',
  'project_events',
];

/** `/groups/:id/hooks…`; `newestJob` is what a test sends. */
export function groupHookRoutes(
  app: Hono,
  book: GroupHookBook,
  administration: Administration,
  newestJob: (groupPath: string) => Readonly<Record<string, unknown>> | undefined,
): void {
  const missing = (c: Context): Response => c.json({ message: '404 Not found' }, 404);
  const hookOf = (c: Context): LocalHook | undefined =>
    book.of(Number(c.req.param('group'))).find(({ id }) => id === Number(c.req.param('hook')));
  const shown = (hook: LocalHook): object => ({
    id: hook.id,
    url: '',
    name: '',
    description: '',
    created_at: isoText(hook.createdAtMs),
    push_events: true,
    ...Object.fromEntries(OFF.map((name) => [name, false])),
    enable_ssl_verification: true,
    url_variables: [],
    push_events_branch_filter: null,
    branch_filter_strategy: 'wildcard',
    custom_webhook_template: '',
    custom_headers: [],
    ...hook.setting,
    group_id: hook.groupId,
    alert_status: book.alertStatus(hook),
    disabled_until: isoText(hook.disabledUntilMs),
    ...(administration.signs && {
      token_present: hook.token !== undefined,
      signing_token_present: hook.signingToken !== undefined,
    }),
  });

  app.use('/groups/:group/hooks/*', (c, next) => {
    if (book.groupPath(Number(c.req.param('group'))) === undefined || !administration.hasHooks)
      return Promise.resolve(missing(c));
    if (!administration.isAdministrator) return Promise.resolve(c.json({ message: '403 Forbidden' }, 403));
    return next();
  });
  app.get('/groups/:group/hooks', (c) => {
    const { entries, headers } = numberedPage(book.of(Number(c.req.param('group'))), new URL(c.req.url));
    return c.json(entries.map(shown), 200, headers);
  });
  app.post('/groups/:group/hooks', async (c) => {
    const groupId = Number(c.req.param('group'));
    const setting = await c.req.json<Record<string, unknown>>();
    const refused = refusalOf(c, setting);
    if (refused !== undefined) return refused;
    if (book.of(groupId).length >= HOOKS_MAX)
      return c.json({ message: { base: ['Maximum number of group hooks (50) exceeded'] } }, 422);
    return c.json(shown(book.make(groupId, setting)), 201);
  });
  app.put('/groups/:group/hooks/:hook', async (c) => {
    const hook = hookOf(c);
    if (hook === undefined) return missing(c);
    const setting = await c.req.json<Record<string, unknown>>();
    const refused = refusalOf(c, setting);
    if (refused !== undefined) return refused;
    book.change(hook, setting);
    return c.json(shown(hook));
  });
  app.delete('/groups/:group/hooks/:hook', (c) => {
    const hook = hookOf(c);
    if (hook === undefined) return missing(c);
    book.remove(hook);
    return c.body(null, 204);
  });

  app.post('/groups/:group/hooks/:hook/test/job_events', async (c) => {
    const hook = hookOf(c);
    if (hook === undefined) return missing(c);
    const body = newestJob(book.groupPath(hook.groupId) ?? '');
    if (body === undefined) return c.json({ message: 'Ensure the project has CI jobs.' }, 422);
    const { status } = await book.send(hook, body, crypto.randomUUID());
    return /^2/.test(status)
      ? c.json({ message: '201 Created' }, 201)
      : c.json({ message: `Hook execution failed: ${status}` }, 422);
  });
  app.get('/groups/:group/hooks/:hook/events', (c) => {
    const hook = hookOf(c);
    if (hook === undefined) return missing(c);
    const { entries, headers } = numberedPage(
      ofStatus(hook.events, c.req.query('status')),
      new URL(c.req.url),
    );
    return c.json(entries.slice(0, 20).map(eventShown), 200, headers);
  });
  app.post('/groups/:group/hooks/:hook/events/:event/resend', async (c) => {
    const hook = hookOf(c);
    const event = hook?.events.find(({ id }) => id === Number(c.req.param('event')));
    if (hook === undefined || event === undefined) return missing(c);
    if (event.url !== hook.setting.url) return c.json({ message: 'The hook URL has changed' }, 422);
    const { status } = await book.send(hook, event.body, event.webhookId);
    return /^2/.test(status)
      ? c.json({ response_status: Number(status) }, 201)
      : c.json({ message: `Hook execution failed: ${status}` }, 422);
  });
}

function refusalOf(
  c: Context,
  { url, signing_token }: Readonly<Record<string, unknown>>,
): Response | undefined {
  if (typeof url !== 'string' || !/^https?:\/\//.test(url))
    return c.json({ message: 'Invalid url given' }, 422);
  const key = typeof signing_token === 'string' ? /^whsec_(.+)$/.exec(signing_token)?.[1] : undefined;
  if (signing_token !== undefined && Buffer.from(key ?? '', 'base64').length !== 32)
    return c.json({ message: { signing_token: ['is invalid'] } }, 422);
  return undefined;
}

function ofStatus(events: readonly LocalHookEvent[], status: string | undefined): readonly LocalHookEvent[] {
  if (status === undefined) return events;
  const kinds: Readonly<Record<string, RegExp>> = {
    successful: /^2/,
    client_failure: /^4/,
    server_failure: /^5|internal error/,
  };
  return events.filter((event) => kinds[status]?.test(event.status) ?? event.status === status);
}

const eventShown = ({ id, url, body, status, atMs }: LocalHookEvent): object => ({
  id,
  url,
  trigger: 'job_hooks',
  request_headers: { 'Content-Type': 'application/json', 'X-Gitlab-Token': '[REDACTED]' },
  request_data: body,
  response_headers: {},
  response_body: '',
  execution_duration: 0.25,
  response_status: status,
  created_at: isoText(atMs),
});
