import type { WallClock } from '../clock/clock.ts';
import type { HookFaultShares, LocalGitLabFaults } from './faults.ts';
import { type HookMessage, uuidFrom } from './hook-request.ts';

/** Takes one delivery over whatever way; resolves with whether the answer was a 2xx. */
export type HookTransport = (message: HookMessage, sentAtMs: number, signal: AbortSignal) => Promise<boolean>;

/** Sums over all deliveries, repeats included. */
export interface HookCounters {
  /** Status changes that a webhook tells of. */
  events: number;
  lost: number;
  lostInOutage: number;
  repeated: number;
  reordered: number;
  delayed: number;
  /** Answered with 2xx. */
  delivered: number;
  /** Answered otherwise, or not reached. GitLab does not try again. */
  failed: number;
  timedOut: number;
}

interface HookSenderParts {
  readonly send: HookTransport;
  readonly faults: LocalGitLabFaults;
  /** What delays and outages are counted on. */
  readonly clock: WallClock;
  /** What deliveries are dated by, and what they time out on. */
  readonly wireClock: WallClock;
  readonly random: () => number;
  /** Told of every delivery that did not come through. */
  readonly onUndelivered: (message: HookMessage) => void;
}

/** GitLab's own default. */
const TIMEOUT_MS = 10_000;

/** Sends job webhooks as GitLab does: at once, without retries, and now and then not as one would wish. */
export class HookSender {
  readonly counters: HookCounters = {
    events: 0,
    lost: 0,
    lostInOutage: 0,
    repeated: 0,
    reordered: 0,
    delayed: 0,
    delivered: 0,
    failed: 0,
    timedOut: 0,
  };
  readonly #parts: HookSenderParts;
  /** Keyed by job: sent once the job's next delivery has been answered. */
  readonly #held = new Map<number, () => Promise<void>>();
  #open = 0;
  #waiting: (() => void)[] = [];

  constructor(parts: HookSenderParts) {
    this.#parts = parts;
  }

  /** A job's status changed. */
  tell(jobId: number, body: Readonly<Record<string, unknown>>): void {
    const { faults, random } = this.#parts;
    this.counters.events += 1;
    const message: HookMessage = { webhookId: uuidFrom(random), body };
    const drawn = draw(faults.hooks, random);
    const held = this.#held.get(jobId);
    this.#held.delete(jobId);
    if (drawn.lose) {
      this.counters.lost += 1;
      this.#parts.onUndelivered(message);
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
    const now = drawn.lose || drawn.delay ? Promise.resolve() : this.#post(message);
    if (held !== undefined) void now.then(held);
  }

  /** Resolves when nothing is on its way and nothing is to be sent later. */
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
    if (faults.isOut('hooks', clock.nowMs())) {
      this.counters.lostInOutage += 1;
      onUndelivered(message);
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
          (ok) => resolve(ok ? 'delivered' : 'failed'),
          () => resolve('failed'),
        )
        .finally(cancel);
    });
    this.counters[outcome] += 1;
    if (outcome !== 'delivered') onUndelivered(message);
    this.#close();
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Always as many numbers, so that switching one fault on does not change what the others hit. */
const draw = (shares: HookFaultShares, random: () => number) => ({
  lose: random() < shares.lose,
  repeat: random() < shares.repeat,
  reorder: random() < shares.reorder,
  delay: random() < shares.delay,
  repeatShare: random(),
  delayShare: random(),
});
