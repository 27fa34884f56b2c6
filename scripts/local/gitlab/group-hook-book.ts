import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { WallClock } from '../clock/clock.ts';
import type { Administration } from './administration.ts';
import { hookRequester, uuidFrom } from './hook-request.ts';
import type { PlaceBook } from './place-book.ts';

/** A webhook of a group, with its secrets, which GitLab never tells again. */
export interface LocalHook {
  readonly id: number;
  readonly groupId: number;
  readonly uuid: string;
  readonly createdAtMs: number;
  /** As its owner set them: url, name, job_events … */
  setting: Readonly<Record<string, unknown>>;
  token?: string;
  signingToken?: string;
  failures: number;
  disabledUntilMs?: number;
  events: LocalHookEvent[];
}

/** One delivery, as `…/events` tells of it. */
export interface LocalHookEvent {
  readonly id: number;
  readonly url: string;
  readonly webhookId: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** A status, or `internal error`. */
  readonly status: string;
  readonly atMs: number;
}

interface HookBookParts {
  readonly administration: Administration;
  readonly places: PlaceBook;
  readonly clock: WallClock;
  readonly random: () => number;
  readonly instanceUrl: string;
  readonly deliver: (request: Request) => Promise<Response>;
}

/** GitLab's: a fourth failure in a row disables for a minute, then twice as long each time; the fortieth for good. */
const FAILURES_ALLOWED = 3;
const FAILURES_MAX = 40;
const DISABLED_MS = 60_000;
const DISABLED_MS_MAX = 86_400_000;
const TIMEOUT_MS = 10_000;
const EVENTS_KEPT = 200;

/** Webhooks of groups: kept, sent, and given up where they fail. */
export class GroupHookBook {
  readonly #hooks = new Map<number, LocalHook>();
  readonly #parts: HookBookParts;
  #made = 0;
  #events = 0;

  constructor(parts: HookBookParts) {
    this.#parts = parts;
  }

  /** Undefined: there is no such group. */
  groupPath(id: number): string | undefined {
    const { places } = this.#parts;
    return places.groups.has(id) ? places.pathOf(id) : undefined;
  }

  of(groupId: number): readonly LocalHook[] {
    return [...this.#hooks.values()].filter((hook) => hook.groupId === groupId);
  }

  make(groupId: number, setting: Readonly<Record<string, unknown>>): LocalHook {
    this.#made += 1;
    const hook: LocalHook = {
      id: this.#made,
      groupId,
      uuid: uuidFrom(this.#parts.random),
      createdAtMs: this.#parts.clock.nowMs(),
      setting: {},
      failures: 0,
      events: [],
    };
    this.#hooks.set(hook.id, hook);
    this.change(hook, setting);
    return hook;
  }

  /** A changed address clears the secret token; what is not named stays. */
  change(hook: LocalHook, { token, signing_token, ...setting }: Readonly<Record<string, unknown>>): void {
    if (setting.url !== undefined && setting.url !== hook.setting.url) delete hook.token;
    hook.setting = { ...hook.setting, ...setting };
    if (typeof token === 'string') hook.token = token;
    if (typeof signing_token === 'string' && this.#parts.administration.signs)
      hook.signingToken = signing_token;
  }

  remove(hook: LocalHook): void {
    this.#hooks.delete(hook.id);
  }

  /** Sends a job event to webhooks of all groups above the project that want it and are not disabled. */
  async tell(projectPath: string, body: () => Readonly<Record<string, unknown>>): Promise<void> {
    for (const hook of this.#hooks.values())
      if (
        hook.setting.job_events === true &&
        projectPath.startsWith(`${this.groupPath(hook.groupId)}/`) &&
        this.alertStatus(hook) === 'executable'
      )
        await this.send(hook, body(), uuidFrom(this.#parts.random));
  }

  /** One delivery; success makes a webhook executable again. */
  async send(
    hook: LocalHook,
    body: Readonly<Record<string, unknown>>,
    webhookId: string,
  ): Promise<LocalHookEvent> {
    const { administration, clock, instanceUrl, deliver } = this.#parts;
    const url = String(hook.setting.url);
    const secrets = withoutAbsent({ secretToken: hook.token, signingToken: hook.signingToken });
    const request = hookRequester(url, instanceUrl, secrets, hook.uuid, administration.version);
    const message = { webhookId, body };
    const status = await deliver(request(message, clock.nowMs(), AbortSignal.timeout(TIMEOUT_MS))).then(
      async (response) => {
        await response.body?.cancel();
        return String(response.status);
      },
      () => 'internal error',
    );
    this.#events += 1;
    const event = { id: this.#events, url, webhookId, body, status, atMs: clock.nowMs() };
    hook.events = [event, ...hook.events].slice(0, EVENTS_KEPT);
    if (/^[23]/.test(status)) {
      hook.failures = 0;
      delete hook.disabledUntilMs;
      return event;
    }
    hook.failures += 1;
    const beyond = hook.failures - FAILURES_ALLOWED;
    if (beyond > 0)
      hook.disabledUntilMs = clock.nowMs() + Math.min(DISABLED_MS_MAX, DISABLED_MS * 2 ** (beyond - 1));
    return event;
  }

  alertStatus(hook: LocalHook): 'executable' | 'temporarily_disabled' | 'disabled' {
    // With the flag off it says nothing.
    if (this.#parts.administration.setting.disablesHooks !== true) return 'executable';
    if (hook.failures >= FAILURES_MAX) return 'disabled';
    return this.#parts.clock.nowMs() < (hook.disabledUntilMs ?? 0) ? 'temporarily_disabled' : 'executable';
  }
}
