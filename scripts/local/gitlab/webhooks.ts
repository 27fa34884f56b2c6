import type { Context, Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import { JOB_HOOK_EVENT } from '../../../functions/core/gitlab/job-reader.ts';
import type { WallClock } from '../clock.ts';
import { jobHookBody } from './bodies.ts';
import {
  forbidden,
  type InstanceSettings,
  isAdministrator,
  licenceOf,
  listPage,
  notFound,
  routesBelow,
} from './instance.ts';
import type { PlaceBook } from './places.ts';
import type { GitLabState } from './state.ts';

/**
 * The GitLab version to imitate. Before 19.0 there are no signing tokens and no `webhook-*` headers. Before 18.10
 * controllers have no `connected` and no scopes of single runners.
 */
export type GitLabVersion = '18.9' | '18.11' | '19.4';

type HookBody = Readonly<Record<string, unknown>>;

/** Shares in [0, 1] of webhook deliveries that go wrong, each drawn on its own. */
export interface HookFaultShares {
  readonly lose: number;
  readonly repeat: number;
}

const signsWebhooks = (version: GitLabVersion): boolean => Number.parseInt(version, 10) >= 19;

const TIMEOUT_MS = 10_000;
const REPEATED_AFTER_MS_MAX = 120_000;

export function hookRequest(
  { url, uuid, signingToken, token }: Pick<LocalHook, 'uuid' | 'signingToken' | 'token'> & { url: string },
  { webhookId, body }: { readonly webhookId: string; readonly body: HookBody },
  { instanceUrl, version }: { readonly instanceUrl: string; readonly version: GitLabVersion },
  sentAtMs: number,
): Request {
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'user-agent': `GitLab/${version}.0`,
    'x-gitlab-event': JOB_HOOK_EVENT,
    'x-gitlab-instance': instanceUrl,
    'x-gitlab-webhook-uuid': uuid,
    'x-gitlab-event-uuid': webhookId,
    'idempotency-key': webhookId,
    ...(signsWebhooks(version) && {
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(sentAtMs / 1000)),
    }),
    ...(signingToken !== undefined && {
      'webhook-signature': new Webhook(signingToken).sign(webhookId, new Date(sentAtMs), text),
    }),
    ...(token !== undefined && { 'x-gitlab-token': token }),
  };
  return new Request(url, { method: 'POST', headers, body: text, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** A UUID from the given numbers, so that a run can be repeated exactly. */
function uuidFrom(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

interface LocalHook {
  readonly id: number;
  readonly groupId: number;
  readonly uuid: string;
  setting: Readonly<Record<string, unknown>>;
  /** A webhook may have a token and a signing token, as during a migration. */
  token?: string;
  signingToken?: string;
  failures: number;
  disabledUntilMs?: number;
  events: { readonly id: number; readonly url: string; readonly body: HookBody; readonly status: string }[];
}

/** GitLab disables a webhook for a minute at the fourth failure in a row, then twice as long each time. */
const FAILURES_ALLOWED = 3;
const FAILURES_MAX = 40;
const DISABLED_MS = 60_000;
const DISABLED_MS_MAX = 86_400_000;
const EVENTS_KEPT = 200;
const SIGNING_KEY_BYTES = 32;

interface HookWorld {
  readonly places: PlaceBook;
  readonly random: () => number;
  readonly instanceUrl: string;
  readonly version: GitLabVersion;
  readonly settings: InstanceSettings;
  readonly clock: WallClock;
  readonly nowMs: () => number;
  readonly deliver: (request: Request) => Promise<Response>;
  readonly faults: HookFaultShares;
}

/** The webhooks of groups. They send as GitLab does: immediately and without retries. */
export class GroupHookBook {
  readonly counters = { events: 0, lost: 0 };
  readonly #hooks = new Map<number, LocalHook>();
  readonly #world: HookWorld;
  readonly #open = new Set<Promise<unknown>>();
  #made = 0;
  #events = 0;

  constructor(world: HookWorld) {
    this.#world = world;
  }

  of(groupId: number): readonly LocalHook[] {
    return [...this.#hooks.values()].filter((hook) => hook.groupId === groupId);
  }

  make(groupId: number, setting: Readonly<Record<string, unknown>>): LocalHook {
    this.#made += 1;
    const uuid = uuidFrom(this.#world.random);
    const hook: LocalHook = { id: this.#made, groupId, uuid, setting: {}, failures: 0, events: [] };
    this.#hooks.set(hook.id, hook);
    this.change(hook, setting);
    return hook;
  }

  change(hook: LocalHook, { token, signing_token, ...setting }: Readonly<Record<string, unknown>>): void {
    if (setting.url !== undefined && setting.url !== hook.setting.url) delete hook.token;
    hook.setting = { ...hook.setting, ...setting };
    if (typeof token === 'string') hook.token = token;
    if (typeof signing_token === 'string' && signsWebhooks(this.#world.version))
      hook.signingToken = signing_token;
  }

  remove(hook: LocalHook): void {
    this.#hooks.delete(hook.id);
  }

  /** Sends an event of a job to the webhooks above it. @returns when all are delivered, except repetitions */
  async tell(projectPath: string, body: () => HookBody): Promise<void> {
    const { places, random, faults, clock } = this.#world;
    const isDrawn = (share: number): boolean => share > 0 && random() < share;
    const hooks = [...this.#hooks.values()].filter(
      (hook) =>
        hook.setting.job_events === true &&
        projectPath.startsWith(`${places.pathOf(hook.groupId)}/`) &&
        this.alertStatus(hook) === 'executable',
    );
    const deliveries = hooks.map((hook) => {
      const [webhookId, sent] = [uuidFrom(random), body()];
      const send = () => this.send(hook, sent, webhookId);
      this.counters.events += 1;
      if (isDrawn(faults.lose)) {
        this.counters.lost += 1;
        return undefined;
      }
      if (isDrawn(faults.repeat)) {
        const afterMs = Math.ceil(random() * REPEATED_AFTER_MS_MAX);
        this.#underWay(new Promise<void>((due) => clock.after(afterMs, due)).then(send));
      }
      return this.#underWay(send());
    });
    await Promise.all(deliveries);
  }

  /** Resolves when no delivery is under way or due later. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #underWay(work: Promise<unknown>): Promise<unknown> {
    const done: Promise<unknown> = work.catch(() => {}).finally(() => this.#open.delete(done));
    this.#open.add(done);
    return done;
  }

  /** @returns the HTTP status, or GitLab's words for a request that failed. */
  async send(hook: LocalHook, body: HookBody, webhookId: string): Promise<string> {
    const url = String(hook.setting.url);
    const nowMs = this.#world.nowMs();
    const request = hookRequest({ ...hook, url }, { webhookId, body }, this.#world, nowMs);
    const status = await this.#world.deliver(request).then(
      async (response) => {
        await response.body?.cancel().catch(() => {});
        return String(response.status);
      },
      () => 'internal error',
    );
    this.#events += 1;
    hook.events = [{ id: this.#events, url, body, status }, ...hook.events].slice(0, EVENTS_KEPT);
    hook.failures = /^[23]/.test(status) ? 0 : hook.failures + 1;
    const beyond = hook.failures - FAILURES_ALLOWED;
    if (beyond > 0)
      hook.disabledUntilMs = this.#world.nowMs() + Math.min(DISABLED_MS_MAX, DISABLED_MS * 2 ** (beyond - 1));
    else if (hook.failures === 0) delete hook.disabledUntilMs;
    return status;
  }

  alertStatus(hook: LocalHook): 'executable' | 'temporarily_disabled' | 'disabled' {
    if (this.#world.settings.disablesHooks !== true) return 'executable';
    if (hook.failures >= FAILURES_MAX) return 'disabled';
    return this.#world.nowMs() < (hook.disabledUntilMs ?? 0) ? 'temporarily_disabled' : 'executable';
  }
}

export function groupHookRoutes(app: Hono, state: GitLabState): void {
  const { groupHooks, places, jobs } = state;
  const hooksOf = (c: Context) => groupHooks.of(Number(c.req.param('group')));
  const route = routesBelow(app, '/groups/:group/hooks/:hook', (c) =>
    hooksOf(c).find(({ id }) => id === Number(c.req.param('hook'))),
  );
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
    return (
      refusalOf(c, setting) ?? c.json(entity(groupHooks.make(Number(c.req.param('group')), setting)), 201)
    );
  });
  route('PUT', '', async (c, hook) => {
    const setting = await c.req.json<Record<string, unknown>>();
    const refused = refusalOf(c, setting);
    if (refused === undefined) groupHooks.change(hook, setting);
    return refused ?? c.json(entity(hook));
  });
  route('DELETE', '', (c, hook) => {
    groupHooks.remove(hook);
    return c.body(null, 204);
  });

  route('POST', '/test/job_events', async (c, hook) => {
    const path = places.pathOf(hook.groupId);
    const newest = [...jobs.values()].findLast(({ projectPath }) => projectPath.startsWith(`${path}/`));
    if (newest === undefined) return c.json({ message: 'Ensure the project has CI jobs.' }, 422);
    const body = jobHookBody(newest, state.clock.nowMs());
    const status = await groupHooks.send(hook, body, crypto.randomUUID());
    if (/^2/.test(status)) return c.json({ response_status: Number(status) }, 201);
    return c.json({ message: `Hook execution failed: ${status}` }, 422);
  });
  route('GET', '/events', (c, { events }) =>
    listPage(c, events, ({ id, url, body, status }) => ({
      ...{ id, url, request_data: body, response_status: status },
    })),
  );
}

function refusalOf(c: Context, { url, signing_token }: Readonly<Record<string, unknown>>) {
  if (typeof url !== 'string' || !/^https?:\/\//.test(url))
    return c.json({ message: 'Invalid url given' }, 422);
  const key = typeof signing_token === 'string' ? /^whsec_(.+)$/.exec(signing_token)?.[1] : undefined;
  if (signing_token !== undefined && Buffer.from(key ?? '', 'base64').length !== SIGNING_KEY_BYTES)
    return c.json({ message: { signing_token: ['is invalid'] } }, 422);
  return undefined;
}
