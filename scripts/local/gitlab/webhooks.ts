import type { Context, Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import { JOB_HOOK_EVENT } from '../../../functions/core/gitlab/job-reader.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { WallClock } from '../clock.ts';
import { jobHookBody } from './bodies.ts';
import { forbidden, isAdministrator, licenceOf, listPage, notFound } from './instance.ts';
import type { GitLabState, HookFaultShares } from './state.ts';

/**
 * The GitLab version to imitate. Before 19.0 there are no signing tokens and no `webhook-*` headers. Before 18.10
 * controllers have no `connected` and no scopes of single runners.
 */
export type GitLabVersion = '18.9' | '18.11' | '19.4';

export type HookBody = Readonly<Record<string, unknown>>;

export interface HookMessage {
  readonly webhookId: string;
  readonly body: HookBody;
}

/** A webhook may have both secrets, as during a migration. */
interface HookSecrets {
  readonly signingToken?: string;
  readonly secretToken?: string;
}

const signsWebhooks = (version: GitLabVersion): boolean => Number.parseInt(version, 10) >= 19;

export function hookRequester(
  hookUrl: string,
  instanceUrl: string,
  { signingToken, secretToken }: HookSecrets,
  hookId: string,
  version: GitLabVersion = '19.4',
) {
  if (signingToken !== undefined && !signsWebhooks(version))
    throw new Error(`GitLab ${version} has no signing tokens: give the webhook a secret token`);
  const signing = signingToken === undefined ? undefined : new Webhook(signingToken);
  return ({ webhookId, body }: HookMessage, sentAtMs: number): Request => {
    const text = JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `GitLab/${version}.0`,
      'x-gitlab-event': JOB_HOOK_EVENT,
      'x-gitlab-instance': instanceUrl,
      'x-gitlab-webhook-uuid': hookId,
      'x-gitlab-event-uuid': webhookId,
      'idempotency-key': webhookId,
      ...(signsWebhooks(version) && {
        'webhook-id': webhookId,
        'webhook-timestamp': String(Math.floor(sentAtMs / 1000)),
      }),
      ...(signing && { 'webhook-signature': signing.sign(webhookId, new Date(sentAtMs), text) }),
      ...(secretToken !== undefined && { 'x-gitlab-token': secretToken }),
    };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return new Request(hookUrl, { method: 'POST', headers, body: text, signal });
  };
}

/** A UUID from the given numbers, so that a run can be repeated exactly. */
export function uuidFrom(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

const TIMEOUT_MS = 10_000;
const REPEATED_AFTER_MS_MAX = 120_000;

/** Sends job webhooks as GitLab does: immediately, without retries, and with the given shares of faults. */
export function hookSender(
  send: (message: HookMessage) => Promise<void>,
  shares: HookFaultShares,
  clock: WallClock,
  random: () => number,
) {
  const counters = { events: 0, lost: 0 };
  const open = new Set<Promise<void>>();
  const underWay = (work: Promise<void>): void => {
    const done = work.catch(() => {}).finally(() => open.delete(done));
    open.add(done);
  };
  return {
    counters,
    tell(body: HookBody): void {
      const message: HookMessage = { webhookId: uuidFrom(random), body };
      counters.events += 1;
      if (random() < shares.lose) {
        counters.lost += 1;
        return;
      }
      underWay(send(message));
      if (random() >= shares.repeat) return;
      const due = new Promise<void>((resolve) =>
        clock.after(Math.ceil(random() * REPEATED_AFTER_MS_MAX), resolve),
      );
      underWay(due.then(() => send(message)));
    },
    /** Resolves when no delivery is under way or due later. */
    async idle(): Promise<void> {
      while (open.size > 0) await Promise.all(open);
    },
  };
}

interface LocalHook {
  readonly id: number;
  readonly groupId: number;
  readonly uuid: string;
  setting: Readonly<Record<string, unknown>>;
  token?: string;
  signingToken?: string;
  failures: number;
  disabledUntilMs?: number;
  events: LocalHookEvent[];
}

interface LocalHookEvent {
  readonly id: number;
  readonly url: string;
  readonly message: HookMessage;
  readonly status: string;
}

/** GitLab disables a webhook for a minute at the fourth failure in a row, then twice as long each time. */
const FAILURES_ALLOWED = 3;
const FAILURES_MAX = 40;
const DISABLED_MS = 60_000;
const DISABLED_MS_MAX = 86_400_000;
const EVENTS_KEPT = 200;
const SIGNING_KEY_BYTES = 32;

export class GroupHookBook {
  readonly #hooks = new Map<number, LocalHook>();
  readonly #state: Pick<GitLabState, 'places' | 'random' | 'instanceUrl' | 'version' | 'settings'>;
  readonly #nowMs: () => number;
  readonly #deliver: (request: Request) => Promise<Response>;
  #made = 0;
  #events = 0;

  constructor(
    state: Pick<GitLabState, 'places' | 'random' | 'instanceUrl' | 'version' | 'settings'>,
    nowMs: () => number,
    deliver: (request: Request) => Promise<Response>,
  ) {
    this.#state = state;
    this.#nowMs = nowMs;
    this.#deliver = deliver;
  }

  of(groupId: number): readonly LocalHook[] {
    return [...this.#hooks.values()].filter((hook) => hook.groupId === groupId);
  }

  make(groupId: number, setting: Readonly<Record<string, unknown>>): LocalHook {
    this.#made += 1;
    const uuid = uuidFrom(this.#state.random);
    const hook: LocalHook = { id: this.#made, groupId, uuid, setting: {}, failures: 0, events: [] };
    this.#hooks.set(hook.id, hook);
    this.change(hook, setting);
    return hook;
  }

  /** Changes the given fields. A new address clears the secret token, as in GitLab. */
  change(hook: LocalHook, { token, signing_token, ...setting }: Readonly<Record<string, unknown>>): void {
    if (setting.url !== undefined && setting.url !== hook.setting.url) delete hook.token;
    hook.setting = { ...hook.setting, ...setting };
    if (typeof token === 'string') hook.token = token;
    if (typeof signing_token === 'string' && signsWebhooks(this.#state.version))
      hook.signingToken = signing_token;
  }

  remove(hook: LocalHook): void {
    this.#hooks.delete(hook.id);
  }

  async tell(projectPath: string, body: () => HookBody): Promise<void> {
    for (const hook of this.#hooks.values())
      if (
        hook.setting.job_events === true &&
        projectPath.startsWith(`${this.#state.places.pathOf(hook.groupId)}/`) &&
        this.alertStatus(hook) === 'executable'
      )
        await this.send(hook, body(), uuidFrom(this.#state.random));
  }

  async send(hook: LocalHook, body: HookBody, webhookId: string): Promise<LocalHookEvent> {
    const { instanceUrl, version } = this.#state;
    const url = String(hook.setting.url);
    const secrets = withoutAbsent({ secretToken: hook.token, signingToken: hook.signingToken });
    const message = { webhookId, body };
    const request = hookRequester(url, instanceUrl, secrets, hook.uuid, version)(message, this.#nowMs());
    const status = await this.#deliver(request).then(
      async (response) => {
        await response.body?.cancel();
        return String(response.status);
      },
      () => 'internal error',
    );
    this.#events += 1;
    const event = { id: this.#events, url, message, status };
    hook.events = [event, ...hook.events].slice(0, EVENTS_KEPT);
    if (/^[23]/.test(status)) {
      hook.failures = 0;
      delete hook.disabledUntilMs;
      return event;
    }
    hook.failures += 1;
    const beyond = hook.failures - FAILURES_ALLOWED;
    if (beyond > 0)
      hook.disabledUntilMs = this.#nowMs() + Math.min(DISABLED_MS_MAX, DISABLED_MS * 2 ** (beyond - 1));
    return event;
  }

  alertStatus(hook: LocalHook): 'executable' | 'temporarily_disabled' | 'disabled' {
    if (this.#state.settings.disablesHooks !== true) return 'executable';
    if (hook.failures >= FAILURES_MAX) return 'disabled';
    return this.#nowMs() < (hook.disabledUntilMs ?? 0) ? 'temporarily_disabled' : 'executable';
  }
}

export function groupHookRoutes(app: Hono, state: GitLabState): void {
  const { groupHooks, places, jobs } = state;
  const hooksOf = (c: Context) => groupHooks.of(Number(c.req.param('group')));
  const route = (
    method: string,
    path: string,
    answer: (c: Context, hook: LocalHook) => Response | Promise<Response>,
  ) =>
    app.on(method, `/groups/:group/hooks/:hook${path}`, (c) => {
      const hook = hooksOf(c).find(({ id }) => id === Number(c.req.param('hook')));
      return hook === undefined ? notFound(c) : answer(c, hook);
    });
  const entity = (hook: LocalHook): object => ({
    ...{ id: hook.id, name: '', description: '', push_events: true, job_events: false },
    ...{ enable_ssl_verification: true, custom_webhook_template: '' },
    ...hook.setting,
    ...{ group_id: hook.groupId, alert_status: groupHooks.alertStatus(hook) },
    ...(signsWebhooks(state.version) && { signing_token_present: hook.signingToken !== undefined }),
  });
  app.use('/groups/:group/hooks/*', async (c, next) => {
    if (!places.groups.has(Number(c.req.param('group'))) || licenceOf(state) === 'none') return notFound(c);
    return isAdministrator(state) ? next() : forbidden(c);
  });
  app.get('/groups/:group/hooks', (c) => listPage(c, hooksOf(c), entity));
  app.post('/groups/:group/hooks', async (c) => {
    const setting = await c.req.json<Record<string, unknown>>();
    const refused = refusalOf(c, setting);
    if (refused !== undefined) return refused;
    return c.json(entity(groupHooks.make(Number(c.req.param('group')), setting)), 201);
  });
  route('PUT', '', async (c, hook) => {
    const setting = await c.req.json<Record<string, unknown>>();
    const refused = refusalOf(c, setting);
    if (refused !== undefined) return refused;
    groupHooks.change(hook, setting);
    return c.json(entity(hook));
  });
  route('DELETE', '', (c, hook) => {
    groupHooks.remove(hook);
    return c.body(null, 204);
  });

  route('POST', '/test/job_events', async (c, hook) => {
    const path = places.pathOf(hook.groupId);
    const newest = [...jobs.jobs()].findLast(({ projectPath }) => projectPath.startsWith(`${path}/`));
    if (newest === undefined) return c.json({ message: 'Ensure the project has CI jobs.' }, 422);
    const body = jobHookBody(newest, state.clock.nowMs());
    const { status } = await groupHooks.send(hook, body, crypto.randomUUID());
    if (/^2/.test(status)) return c.json({ response_status: Number(status) }, 201);
    return c.json({ message: `Hook execution failed: ${status}` }, 422);
  });
  route('GET', '/events', (c, { events }) => {
    return listPage(c, events, ({ id, url, message, status }) => ({
      ...{ id, url, request_data: message.body, response_status: status },
    }));
  });
}

function refusalOf(c: Context, { url, signing_token }: Readonly<Record<string, unknown>>) {
  if (typeof url !== 'string' || !/^https?:\/\//.test(url))
    return c.json({ message: 'Invalid url given' }, 422);
  const key = typeof signing_token === 'string' ? /^whsec_(.+)$/.exec(signing_token)?.[1] : undefined;
  if (signing_token !== undefined && Buffer.from(key ?? '', 'base64').length !== SIGNING_KEY_BYTES)
    return c.json({ message: { signing_token: ['is invalid'] } }, 422);
  return undefined;
}
