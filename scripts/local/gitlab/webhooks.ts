import { Webhook } from 'standardwebhooks';
import { JOB_HOOK_EVENT } from '../../../functions/core/gitlab/index.ts';
import type { WallClock } from '../clock/clock.ts';
import type { HookFaultShares, LocalGitLabFaults } from './faults.ts';

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

export const signsWebhooks = (version: GitLabVersion): boolean => Number.parseInt(version, 10) >= 19;

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
