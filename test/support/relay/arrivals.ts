import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import type { Fetch } from '../../../relay/admit/admit-call.ts';
import { createBreaker } from '../../../relay/admit/breaker.ts';
import { createForwarder } from '../../../relay/admit/forward.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import type { LedgerVerdict } from '../../../relay/verdict.ts';
import { INLINE_URL, inlineFetch } from '../../../scripts/local/admit.ts';
import { VirtualTime } from '../../../scripts/local/clock.ts';
import { seededRandom } from '../../../scripts/local/random.ts';
import { benchRequest, benchRules } from '../../../scripts/proof/bench/bench-rules.ts';
import { contendedStore } from '../../../scripts/proof/bench/contention-model.ts';

export interface Arrivals {
  readonly roots: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly deadlineMs: number;
}

/** What a service in trouble does with a call that begins at this moment: a status, or its real answer after a while. */
export type Trouble = (atMs: number) => Response | undefined;

export interface Arrived {
  /** One per job, in the order of arrival. */
  readonly verdicts: readonly { readonly arrivedAtMs: number; readonly verdict: LedgerVerdict }[];
  readonly calls: readonly number[];
  readonly events: readonly RelayEvent[];
}

/**
 * Jobs that come at a steady rate and by turns from many roots, through the real group commit, forwarder, admit app and
 * ledger on the modelled table. In virtual time: the same on any machine.
 */
export async function arrivals(of: Arrivals, trouble: Trouble, seed = 1): Promise<Arrived> {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(seed);
  const rules = benchRules(of.roots);
  const store = contendedStore(new MemoryStore({ instance: 'arrivals.example.com' }), clock, random);
  const admit = inlineFetch({
    ledger: createLedger({ store, clock, random }),
    currentRules: async () => rules,
    clock,
    log: silentLog,
  });
  const calls: number[] = [];
  const fetch: Fetch = async (url, init) => {
    calls.push(clock.monotonicMs());
    return trouble(clock.monotonicMs()) ?? (await admit(url, init));
  };
  const events: RelayEvent[] = [];
  const observe = (event: RelayEvent): void => void events.push(event);
  const { send } = createForwarder({
    baseUrl: INLINE_URL,
    fetch,
    clock,
    random,
    breaker: createBreaker(
      () => clock.monotonicMs(),
      (state) => observe({ type: 'breaker', state }),
    ),
    observe,
  });
  let batches = 0;
  const commit = createGroupCommit({
    send,
    clock,
    observe,
    defer: (run) => void clock.after(0, run),
    newBatchId: () => {
      batches += 1;
      return `b${batches}`;
    },
  });
  const jobs = Array.from({ length: of.perSecond * of.seconds }, async (_, index) => {
    const arrivedAtMs = (index * 1_000) / of.perSecond;
    await clock.sleep(arrivedAtMs);
    const request = benchRequest(index + 1, index % of.roots);
    return { arrivedAtMs, verdict: await commit.decide(request, arrivedAtMs + of.deadlineMs) };
  });
  return { verdicts: await clock.run(Promise.all(jobs)), calls, events };
}
