/** Whether anything was over a limit at any commit, and by how much the rooms of relays that answered alone were wrong. */

import type { Counter } from '../../../functions/core/ledger/index.ts';
import { counterName } from '../../../policies/claim.ts';
import { chaosLimitOf } from './chaos-rules.ts';

interface OverLimitFigure {
  readonly counter: string;
  readonly limit: number;
  /** The most that was committed beyond it at once. */
  readonly mostOver: number;
}

export class OverLimit {
  /** Commits after which what the ledger had admitted itself was more than fits: must stay 0. */
  broken = 0;
  readonly #figures = new Map<string, OverLimitFigure>();

  readonly look = ({ key, committed, unchecked }: Counter): void => {
    const limit = chaosLimitOf(key.subject);
    if (limit === undefined) return;
    const unasked = Object.values(unchecked).reduce((sum, amount) => sum + amount, 0);
    if (committed - unasked > limit) this.broken += 1;
    const counter = counterName(key);
    const mostOver = Math.max(0, committed - limit, this.#figures.get(counter)?.mostOver ?? 0);
    this.#figures.set(counter, { counter, limit, mostOver });
  };

  get figures(): readonly OverLimitFigure[] {
    return [...this.#figures.values()].sort((a, b) => a.counter.localeCompare(b.counter));
  }
}
