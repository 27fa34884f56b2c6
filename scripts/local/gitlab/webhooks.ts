import type { Context, Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import { JOB_HOOK_EVENT } from '../../../functions/core/gitlab/job-reader.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { WallClock } from '../clock.ts';
import { isoText, jobHookBody } from './bodies.ts';
import { forbidden, isAdministrator, licenceOf, listPage, notFound } from './instance.ts';
import type { GitLabState, HookFaultShares, LocalGitLabFaults } from './state.ts';

/**
 * The GitLab version to imitate. Before 19.0 there are no signing tokens and no `webhook-*` headers. Before 18.10
 * controllers have no `connected` and no scopes of single runners.
 */
export type GitLabVersion = '18.9' | '18.11' | '19.4';

export type HookBody = Readonly<Record<string, unknown>>;

/** One delivery; a repeat has the same id and body, and its own time. */
interface HookMessage {
  readonly webhookId: string;
  readonly body: HookBody;
}

/** A webhook may have both secrets, as during a migration. */
interface HookSecrets {
  /** `whsec_` and a key in base64: signs every delivery. */
  readonly signingToken?: string;
  /** Sent unchanged in `X-Gitlab-Token`. */
  readonly secretToken?: string;
}

/** Sends one delivery. @returns true after a 2xx response. */
export type HookTransport = (message: HookMessage, sentAtMs: number, signal: AbortSignal) => Promise<boolean>;

const signsWebhooks = (version: GitLabVersion): boolean => Number.parseInt(version, 10) >= 19;

/**
 * Makes the requests of one webhook, with the headers of that version.
 *
 * @throws {Error} for a signing token before 19.0.
 */
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
  return ({ webhookId, body }: HookMessage, sentAtMs: number, signal: AbortSignal): Request => {
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
    return new Request(hookUrl, { method: 'POST', headers, body: text, signal });
  };
}

/** A UUID from the given numbers, so that a run can be repeated exactly. */
export function uuidFrom(random: () => number): string {
  const word = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const [a, b, c, d] = [word(), word(), word(), word()];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

const NO_DELIVERIES = {
  /** Status changes of jobs. */
  events: 0,
  lost: 0,
  lostInOutage: 0,
  repeated: 0,
  reordered: 0,
  delayed: 0,
  /** Responses with 2xx. */
  delivered: 0,
  /** Other responses, and receivers out of reach. GitLab does not retry. */
  failed: 0,
  timedOut: 0,
};

/** Sums over all deliveries, repeats included. */
export type HookCounters = Readonly<typeof NO_DELIVERIES>;

interface HookSenderParts {
  readonly send: HookTransport;
  readonly faults: LocalGitLabFaults;
  /** Times delays and outages. */
  readonly clock: WallClock;
  /** Dates deliveries and times them out. */
  readonly wireClock: WallClock;
  readonly random: () => number;
  readonly onUndelivered: (body: HookBody) => void;
}

/** GitLab's own default. */
const TIMEOUT_MS = 10_000;

/** Sends job webhooks as GitLab does: immediately, without retries, and with the faults that are switched on. */
export class HookSender {
  readonly counters = { ...NO_DELIVERIES };
  readonly #parts: HookSenderParts;
  /** Held back until the job's next delivery has its response, by job id. */
  readonly #held = new Map<number, () => Promise<void>>();
  #open = 0;
  #waiting: (() => void)[] = [];

  constructor(parts: HookSenderParts) {
    this.#parts = parts;
  }

  /** Sends the webhook of a job's new status. */
  tell(jobId: number, body: HookBody): void {
    const { faults, random, onUndelivered } = this.#parts;
    this.counters.events += 1;
    const message: HookMessage = { webhookId: uuidFrom(random), body };
    const drawn = draw(faults.hooks, random);
    const held = this.#held.get(jobId);
    this.#held.delete(jobId);
    if (drawn.lose) {
      this.counters.lost += 1;
      onUndelivered(body);
    } else if (drawn.reorder && held === undefined) {
      this.#hold(jobId, message);
      return;
    } else if (drawn.delay) {
      this.counters.delayed += 1;
      this.#later(drawn.delayShare, message);
    }
    if (!drawn.lose && drawn.repeat) {
      this.counters.repeated += 1;
      this.#later(drawn.repeatShare, message);
    }
    const sent = drawn.lose || drawn.delay ? Promise.resolve() : this.#post(message);
    if (held !== undefined) void sent.then(held);
  }

  /** Resolves when no delivery is under way or due later. */
  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  #hold(jobId: number, message: HookMessage): void {
    const { clock, faults } = this.#parts;
    this.counters.reordered += 1;
    this.#open += 1;
    let cancel = (): void => {};
    let released = false;
    const release = async (): Promise<void> => {
      // The next delivery may be slower than the timer.
      if (released) return;
      released = true;
      cancel();
      const posted = this.#post(message);
      this.#close();
      await posted;
    };
    // A job's last event has no next one.
    cancel = clock.after(faults.delayMsMax, () => {
      if (this.#held.get(jobId) === release) this.#held.delete(jobId);
      void release();
    });
    this.#held.set(jobId, release);
  }

  #later(share: number, message: HookMessage): void {
    const { clock, faults } = this.#parts;
    this.#open += 1;
    clock.after(Math.ceil(share * faults.delayMsMax), () => {
      void this.#post(message);
      this.#close();
    });
  }

  async #post(message: HookMessage): Promise<void> {
    const { clock, wireClock, faults, send, onUndelivered } = this.#parts;
    if (faults.isOut(clock.nowMs())) {
      this.counters.lostInOutage += 1;
      onUndelivered(message.body);
      return;
    }
    this.#open += 1;
    const giveUp = new AbortController();
    const outcome = await new Promise<'delivered' | 'failed' | 'timedOut'>((resolve) => {
      const cancel = wireClock.after(TIMEOUT_MS, () => {
        resolve('timedOut');
        giveUp.abort();
      });
      send(message, wireClock.nowMs(), giveUp.signal)
        .then(
          (isOk) => resolve(isOk ? 'delivered' : 'failed'),
          () => resolve('failed'),
        )
        .finally(cancel);
    });
    this.counters[outcome] += 1;
    if (outcome !== 'delivered') onUndelivered(message.body);
    this.#close();
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Always draws six numbers, so that switching one fault on does not change which deliveries the others hit. */
const draw = (shares: HookFaultShares, random: () => number) => ({
  lose: random() < shares.lose,
  repeat: random() < shares.repeat,
  reorder: random() < shares.reorder,
  delay: random() < shares.delay,
  repeatShare: random(),
  delayShare: random(),
});

/** A webhook of a group. GitLab never shows its secrets. */
interface LocalHook {
  readonly id: number;
  readonly groupId: number;
  readonly uuid: string;
  readonly createdAtMs: number;
  /** The fields its owner set: url, name, job_events … */
  setting: Readonly<Record<string, unknown>>;
  token?: string;
  signingToken?: string;
  failures: number;
  disabledUntilMs?: number;
  events: LocalHookEvent[];
}

/** One delivery, as `…/events` lists it. */
interface LocalHookEvent {
  readonly id: number;
  readonly url: string;
  readonly webhookId: string;
  readonly body: HookBody;
  /** An HTTP status, or `internal error`. */
  readonly status: string;
  readonly atMs: number;
}

/** GitLab disables a webhook for a minute at the fourth failure in a row, then twice as long each time. */
const FAILURES_ALLOWED = 3;
/** At this many failures GitLab disables it for good. */
const FAILURES_MAX = 40;
const DISABLED_MS = 60_000;
const DISABLED_MS_MAX = 86_400_000;
const EVENTS_KEPT = 200;
/** GitLab's default limit for a group. */
const HOOKS_MAX = 50;
/** A Standard Webhooks key has 32 bytes. */
const SIGNING_KEY_BYTES = 32;

/** Webhooks of groups: stores them, sends job events to them, and disables those that fail. */
export class GroupHookBook {
  readonly #hooks = new Map<number, LocalHook>();
  readonly #state: Pick<GitLabState, 'places' | 'random' | 'instanceUrl' | 'version' | 'settings'>;
  readonly #clock: WallClock;
  readonly #deliver: (request: Request) => Promise<Response>;
  #made = 0;
  #events = 0;

  /** @param clock - dates deliveries: receivers compare the date with the real time. */
  constructor(
    state: Pick<GitLabState, 'places' | 'random' | 'instanceUrl' | 'version' | 'settings'>,
    clock: WallClock,
    deliver: (request: Request) => Promise<Response>,
  ) {
    this.#state = state;
    this.#clock = clock;
    this.#deliver = deliver;
  }

  of(groupId: number): readonly LocalHook[] {
    return [...this.#hooks.values()].filter((hook) => hook.groupId === groupId);
  }

  make(groupId: number, setting: Readonly<Record<string, unknown>>): LocalHook {
    this.#made += 1;
    const hook: LocalHook = {
      ...{ id: this.#made, groupId, uuid: uuidFrom(this.#state.random), createdAtMs: this.#clock.nowMs() },
      ...{ setting: {}, failures: 0, events: [] },
    };
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

  /** Sends a job event to each enabled webhook of the groups above the project. */
  async tell(projectPath: string, body: () => HookBody): Promise<void> {
    for (const hook of this.#hooks.values())
      if (
        hook.setting.job_events === true &&
        projectPath.startsWith(`${this.#state.places.pathOf(hook.groupId)}/`) &&
        this.alertStatus(hook) === 'executable'
      )
        await this.send(hook, body(), uuidFrom(this.#state.random));
  }

  /** Sends one delivery. A success enables the webhook again. */
  async send(hook: LocalHook, body: HookBody, webhookId: string): Promise<LocalHookEvent> {
    const { instanceUrl, version } = this.#state;
    const url = String(hook.setting.url);
    const secrets = withoutAbsent({ secretToken: hook.token, signingToken: hook.signingToken });
    const request = hookRequester(url, instanceUrl, secrets, hook.uuid, version);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const status = await this.#deliver(request({ webhookId, body }, this.#clock.nowMs(), signal)).then(
      async (response) => {
        await response.body?.cancel();
        return String(response.status);
      },
      () => 'internal error',
    );
    this.#events += 1;
    const event = { id: this.#events, url, webhookId, body, status, atMs: this.#clock.nowMs() };
    hook.events = [event, ...hook.events].slice(0, EVENTS_KEPT);
    if (/^[23]/.test(status)) {
      hook.failures = 0;
      delete hook.disabledUntilMs;
      return event;
    }
    hook.failures += 1;
    const beyond = hook.failures - FAILURES_ALLOWED;
    if (beyond > 0)
      hook.disabledUntilMs = event.atMs + Math.min(DISABLED_MS_MAX, DISABLED_MS * 2 ** (beyond - 1));
    return event;
  }

  alertStatus(hook: LocalHook): 'executable' | 'temporarily_disabled' | 'disabled' {
    if (this.#state.settings.disablesHooks !== true) return 'executable';
    if (hook.failures >= FAILURES_MAX) return 'disabled';
    return this.#clock.nowMs() < (hook.disabledUntilMs ?? 0) ? 'temporarily_disabled' : 'executable';
  }
}

/** `/groups/:id/hooks…` */
export function groupHookRoutes(app: Hono, state: GitLabState): void {
  const { groupHooks, places, jobs } = state;
  const hooksOf = (c: Context) => groupHooks.of(Number(c.req.param('group')));
  const withHook =
    (answer: (c: Context, hook: LocalHook) => Response | Promise<Response>) => (c: Context) => {
      const hook = hooksOf(c).find(({ id }) => id === Number(c.req.param('hook')));
      return hook === undefined ? notFound(c) : answer(c, hook);
    };
  const entity = (hook: LocalHook): object => ({
    ...{ id: hook.id, url: '', name: '', description: '', created_at: isoText(hook.createdAtMs) },
    ...EVENTS_OFF,
    ...{ push_events: true, enable_ssl_verification: true, url_variables: [], custom_headers: [] },
    ...{ push_events_branch_filter: null, branch_filter_strategy: 'wildcard', custom_webhook_template: '' },
    ...hook.setting,
    ...{ group_id: hook.groupId, alert_status: groupHooks.alertStatus(hook) },
    disabled_until: isoText(hook.disabledUntilMs),
    ...(signsWebhooks(state.version) && {
      token_present: hook.token !== undefined,
      signing_token_present: hook.signingToken !== undefined,
    }),
  });
  const sendAndReport = async (
    c: Context,
    hook: LocalHook,
    body: HookBody,
    webhookId: string,
    success: (status: string) => object,
  ): Promise<Response> => {
    const { status } = await groupHooks.send(hook, body, webhookId);
    if (/^2/.test(status)) return c.json(success(status), 201);
    return c.json({ message: `Hook execution failed: ${status}` }, 422);
  };

  app.use('/groups/:group/hooks/*', async (c, next) => {
    if (!places.groups.has(Number(c.req.param('group'))) || licenceOf(state) === 'none') return notFound(c);
    return isAdministrator(state) ? next() : forbidden(c);
  });
  app.get('/groups/:group/hooks', (c) => listPage(c, hooksOf(c), entity));
  app.post('/groups/:group/hooks', async (c) => {
    const setting = await c.req.json<Record<string, unknown>>();
    const refused = refusalOf(c, setting);
    if (refused !== undefined) return refused;
    if (hooksOf(c).length >= HOOKS_MAX)
      return c.json({ message: { base: ['Maximum number of group hooks (50) exceeded'] } }, 422);
    return c.json(entity(groupHooks.make(Number(c.req.param('group')), setting)), 201);
  });
  app.put(
    '/groups/:group/hooks/:hook',
    withHook(async (c, hook) => {
      const setting = await c.req.json<Record<string, unknown>>();
      const refused = refusalOf(c, setting);
      if (refused !== undefined) return refused;
      groupHooks.change(hook, setting);
      return c.json(entity(hook));
    }),
  );
  app.delete(
    '/groups/:group/hooks/:hook',
    withHook((c, hook) => {
      groupHooks.remove(hook);
      return c.body(null, 204);
    }),
  );

  app.post(
    '/groups/:group/hooks/:hook/test/job_events',
    withHook((c, hook) => {
      const path = places.pathOf(hook.groupId);
      const newest = [...jobs.jobs()].findLast(({ projectPath }) => projectPath.startsWith(`${path}/`));
      if (newest === undefined) return c.json({ message: 'Ensure the project has CI jobs.' }, 422);
      const body = jobHookBody(newest, state.instanceUrl, state.clock.nowMs());
      return sendAndReport(c, hook, body, crypto.randomUUID(), () => ({ message: '201 Created' }));
    }),
  );
  app.get(
    '/groups/:group/hooks/:hook/events',
    withHook((c, { events }) => {
      const asked = c.req.query('status');
      const isAsked = ({ status }: LocalHookEvent): boolean =>
        asked === undefined || (EVENT_STATUSES[asked]?.test(status) ?? status === asked);
      return listPage(c, events.filter(isAsked), eventEntity);
    }),
  );
  app.post(
    '/groups/:group/hooks/:hook/events/:event/resend',
    withHook((c, hook) => {
      const event = hook.events.find(({ id }) => id === Number(c.req.param('event')));
      if (event === undefined) return notFound(c);
      if (event.url !== hook.setting.url) return c.json({ message: 'The hook URL has changed' }, 422);
      const report = (status: string) => ({ response_status: Number(status) });
      return sendAndReport(c, hook, event.body, event.webhookId, report);
    }),
  );
}

/** Every event but pushes is off by default. */
const EVENTS_OFF = Object.fromEntries(
  `tag_push merge_requests repository_update issues confidential_issues note confidential_note pipeline wiki_page
   job deployment feature_flag releases milestone subgroup emoji resource_access_token member project`
    .split(/\s+/)
    .map((name) => [`${name}_events`, false]),
);

const EVENT_STATUSES: Readonly<Record<string, RegExp>> = {
  successful: /^2/,
  client_failure: /^4/,
  server_failure: /^5|internal error/,
};

function refusalOf(c: Context, { url, signing_token }: Readonly<Record<string, unknown>>) {
  if (typeof url !== 'string' || !/^https?:\/\//.test(url))
    return c.json({ message: 'Invalid url given' }, 422);
  const key = typeof signing_token === 'string' ? /^whsec_(.+)$/.exec(signing_token)?.[1] : undefined;
  if (signing_token !== undefined && Buffer.from(key ?? '', 'base64').length !== SIGNING_KEY_BYTES)
    return c.json({ message: { signing_token: ['is invalid'] } }, 422);
  return undefined;
}

const eventEntity = ({ id, url, body, status, atMs }: LocalHookEvent): object => ({
  ...{ id, url, trigger: 'job_hooks', request_data: body, response_headers: {}, response_body: '' },
  request_headers: { 'Content-Type': 'application/json', 'X-Gitlab-Token': '[REDACTED]' },
  ...{ execution_duration: 0.25, response_status: status, created_at: isoText(atMs) },
});
