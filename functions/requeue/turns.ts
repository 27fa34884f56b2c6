/** Order of retries. Pure. */

import type { RequeueEntry } from '../core/requeue/index.ts';

export interface WaitingEntry extends RequeueEntry {
  readonly groupId: number;
  readonly priority: number;
}

/** By priority, then one job of each top-level group after the other, then by time. */
export function inTurn(waiting: readonly WaitingEntry[]): readonly WaitingEntry[] {
  const turns = new Map<string, number>();
  return waiting
    .toSorted((a, b) => a.firstAtMs - b.firstAtMs || a.jobId - b.jobId)
    .map((entry) => {
      const line = `${entry.priority} ${entry.root}`;
      const turn = turns.get(line) ?? 0;
      turns.set(line, turn + 1);
      return { entry, turn };
    })
    .toSorted((a, b) => b.entry.priority - a.entry.priority || a.turn - b.turn)
    .map(({ entry }) => entry);
}
