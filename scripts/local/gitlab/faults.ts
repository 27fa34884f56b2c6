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

/** A half-open span of time, Unix ms, in which GitLab neither answers nor sends webhooks. */
interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A response of the REST API instead of the real one. `stall` never answers. */
type RestFault = { readonly status: number; readonly retryAfterSeconds?: number } | 'stall';

export interface FaultOptions {
  readonly hooks?: Partial<HookFaultShares>;
  readonly outages?: readonly Outage[];
  readonly delayMsMax?: number;
}

const NO_HOOK_FAULTS: HookFaultShares = { lose: 0, repeat: 0, reorder: 0, delay: 0 };
const DELAY_MS_MAX = 120_000;

/** Faults of the local GitLab, switchable while it runs. All are off at the start. */
export class LocalGitLabFaults {
  hooks: HookFaultShares;
  outages: readonly Outage[];
  /** Answers 405 to `pagination=keyset` on runner jobs, as older versions do. */
  refuseKeyset = false;
  /** Longest delay of a delivery that is late, repeated or out of order, ms. */
  readonly delayMsMax: number;
  #rest: { fault: RestFault; left: number }[] = [];

  constructor({ hooks, outages = [], delayMsMax = DELAY_MS_MAX }: FaultOptions = {}) {
    this.hooks = { ...NO_HOOK_FAULTS, ...hooks };
    this.outages = outages;
    this.delayMsMax = delayMsMax;
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

  /** Returns the fault of this REST call, and uses it up. */
  takeRest(nowMs: number): RestFault | undefined {
    if (this.isOut(nowMs)) return { status: 503 };
    const [first] = this.#rest;
    if (first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) this.#rest.shift();
    return first.fault;
  }

  isOut(nowMs: number): boolean {
    return this.outages.some(({ fromMs, toMs }) => nowMs >= fromMs && nowMs < toMs);
  }
}
