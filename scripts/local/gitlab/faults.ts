/** Shares in [0, 1] of webhook deliveries that go wrong, each drawn on its own. */
export interface HookFaultShares {
  /** Never sent. */
  readonly lose: number;
  /** Sent again under the same `webhook-id`, after a delay. */
  readonly repeat: number;
  /** Sent after the next delivery of the same job. */
  readonly reorder: number;
  /** Sent late. */
  readonly delay: number;
}

/** A span of wall time, half-open, Unix ms, in which nothing goes out or nothing answers. */
interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
  /** @default 'all' */
  readonly what?: 'rest' | 'hooks' | 'all';
}

/** An answer of the REST API instead of the real one. */
type RestFault =
  | { readonly status: number; readonly retryAfterSeconds?: number }
  /** Takes the call and never answers. */
  | 'stall';

const NO_HOOK_FAULTS: HookFaultShares = { lose: 0, repeat: 0, reorder: 0, delay: 0 };

/** What goes wrong on purpose, switchable while the local GitLab runs. Everything is off at the start. */
export class LocalGitLabFaults {
  hooks: HookFaultShares;
  outages: readonly Outage[];
  /** Answers 405 to `pagination=keyset`, as versions do that cannot page runner jobs that way. */
  refuseKeyset = false;
  /** Longest delay of a delivery that is late, repeated or out of order, ms. */
  delayMsMax: number;
  #rest: { fault: RestFault; left: number }[] = [];

  constructor(options: FaultOptions = {}) {
    this.hooks = { ...NO_HOOK_FAULTS, ...options.hooks };
    this.outages = options.outages ?? [];
    this.delayMsMax = options.delayMsMax ?? DELAY_MS_MAX;
  }

  /** Answers the next `calls` REST calls this way. `Infinity` lasts until `clear`. */
  answerRest(fault: RestFault, calls = 1): void {
    this.#rest.push({ fault, left: calls });
  }

  clear(): void {
    this.hooks = NO_HOOK_FAULTS;
    this.outages = [];
    this.refuseKeyset = false;
    this.#rest = [];
  }

  /** Asked for every REST call; uses up one fault. */
  takeRest(nowMs: number): RestFault | undefined {
    if (this.isOut('rest', nowMs)) return { status: 503 };
    const [first] = this.#rest;
    if (first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) this.#rest.shift();
    return first.fault;
  }

  isOut(what: 'rest' | 'hooks', nowMs: number): boolean {
    return this.outages.some(
      (outage) =>
        nowMs >= outage.fromMs &&
        nowMs < outage.toMs &&
        (outage.what === undefined || outage.what === 'all' || outage.what === what),
    );
  }
}

export interface FaultOptions {
  readonly hooks?: Partial<HookFaultShares>;
  readonly outages?: readonly Outage[];
  readonly delayMsMax?: number;
}

const DELAY_MS_MAX = 120_000;
