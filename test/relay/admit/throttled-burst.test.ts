import { expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import type { Fetch } from '../../../relay/admit/admit-call.ts';
import { createBreaker } from '../../../relay/admit/breaker.ts';
import { createForwarder } from '../../../relay/admit/forward.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { INLINE_URL, inlineFetch } from '../../../scripts/local/admit.ts';
import { VirtualTime } from '../../../scripts/local/clock.ts';
import { seededRandom } from '../../../scripts/local/random.ts';
import { benchRequest, benchRules } from '../../../scripts/proof/bench/bench-rules.ts';
import { contendedStore } from '../../../scripts/proof/bench/contention-model.ts';

const ROOTS = 40;
const PER_SECOND = 100;
const SECONDS = 12;
const FROM_MS = 3_000;

/**
 * Jobs that come at a steady rate and by turns from many roots, through the real group commit, forwarder, admit app and
 * ledger on the modelled table. In virtual time: the same on any machine.
 */
async function arrivals(trouble: (atMs: number) => Response | undefined) {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(1);
  const rules = benchRules(ROOTS);
  const store = contendedStore(new MemoryStore({ instance: 'arrivals.example.com' }), clock, random);
  const admit = inlineFetch({
    ledger: createLedger({ store, clock, random }),
    currentRules: async () => rules,
    clock,
    log: silentLog,
  });
  const fetch: Fetch = async (url, init) => {
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
  const jobs = Array.from({ length: PER_SECOND * SECONDS }, async (_, index) => {
    const arrivedAtMs = (index * 1_000) / PER_SECOND;
    await clock.sleep(arrivedAtMs);
    const request = benchRequest(index + 1, index % ROOTS);
    return commit.decide(request, arrivedAtMs + 2_000);
  });
  return { verdicts: await clock.run(Promise.all(jobs)), events };
}

test.each([429, 503, 500])(
  '300 ms of %i at 100 jobs a second over 40 roots: no job is free, and the breaker stays closed',
  async (status) => {
    const { verdicts, events } = await arrivals((atMs) =>
      atMs >= FROM_MS && atMs < FROM_MS + 300 ? new Response(null, { status }) : undefined,
    );
    expect(verdicts).toHaveLength(PER_SECOND * SECONDS);
    expect(verdicts.filter(({ outcome }) => outcome === 'undecided')).toEqual([]);
    expect(events.filter(({ type }) => type === 'breaker')).toEqual([]);
  },
);
