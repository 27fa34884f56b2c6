/** Nobody is rejected for a limit that is not in force any more. */

import type { LedgerClock } from '../environment/clock.ts';
import { TRANSACTION_RESERVE_MS, timeLeftMs } from './attempt.ts';
import type { HoldOptions, HoldOutcome } from './ledger.ts';
import type { Verdict, Weighing } from './weighing.ts';

/** One read of one item takes a few milliseconds. What takes longer is our trouble, and the decision stands as it is. */
const ASK_MS_MAX = 300;
/** An answer with less time left would come too late to be of use. */
const ASK_MS_MIN = 20;

const STALE: HoldOutcome = { outcome: 'undecided', cause: 'stale_limits' };

/** For one call of hold: asks whether its limits are in force, once, and only if somebody is about to be rejected. */
export class StaleLimits {
  readonly #ask: HoldOptions['limitsAreCurrent'];
  readonly #deadlineMs: number;
  readonly #clock: LedgerClock;
  #current: boolean | undefined;

  /** @param ask - absent: nothing is asked. */
  constructor(ask: HoldOptions['limitsAreCurrent'], deadlineMs: number, clock: LedgerClock) {
    this.#ask = ask;
    this.#deadlineMs = deadlineMs;
    this.#clock = clock;
  }

  /** Takes out jobs that other limits might let in and tells them so. A rejected job takes no room, so the rest stands. */
  async sifted(weighing: Weighing): Promise<Weighing> {
    const hanging = weighing.verdicts.filter(hangsOnLimits);
    if (hanging.length === 0 || (await this.#areCurrent())) return weighing;
    for (const { job } of hanging) job.outcome = STALE;
    return { ...weighing, verdicts: weighing.verdicts.filter(({ job }) => job.outcome !== STALE) };
  }

  async #areCurrent(): Promise<boolean> {
    if (this.#ask === undefined) return true;
    if (this.#current === undefined) {
      const timeoutMs = Math.min(
        ASK_MS_MAX,
        timeLeftMs(this.#deadlineMs, this.#clock) - TRANSACTION_RESERVE_MS,
      );
      this.#current = timeoutMs < ASK_MS_MIN || (await this.#ask(timeoutMs));
    }
    return this.#current;
  }
}

/**
 * Rejected, and not by a security rule, whose modes no limit set can change. Every violation of the other classes may hang
 * on it: by a limit, or by how far it rolls the rule out.
 */
const hangsOnLimits = ({ violations }: Verdict): boolean =>
  violations.length > 0 && !violations.some((each) => each.class === 'security');
