/**
 * Recounts every counter from what it was made of. A scan is no snapshot, so a difference is drift only if two passes
 * show the same one while nobody wrote the counter: `rev` unchanged from the first pass until after the second.
 */
import { type CounterKey, counterName } from '../../policies/claim.ts';
import { isPipelineCounter } from '../../policies/limits/grace.ts';
import { NO_AMOUNTS, sameAmounts } from './amounts.ts';
import { type AttemptDeps, attempt } from './attempt.ts';
import type { CloseOutcome, Counter, CounterAmounts, Drift, RebuildReport } from './ledger.ts';
import { type Recount, recount } from './recount.ts';
import type { CounterReset } from './store.ts';

/** Nobody waits for a repair; this only bounds a table that does not answer. */
const REPAIR_TIMEOUT_MS = 10_000;
const READ_TIMEOUT_MS = 5_000;

export async function rebuild(
  options: { readonly repair: boolean },
  deps: AttemptDeps,
): Promise<RebuildReport> {
  // It only names suspects, at half the price: what it has not seen yet makes one too many, or one that the next night
  // finds. A counter it shows with the rev of the second pass was not written in between, however late it was read.
  const first = await recount(deps.store.scan('eventual'));
  // Pipelines' counters are collected before the records that made them: what is left cannot tell what was right.
  const suspects = first
    .names()
    .filter((name) => !agrees(first, name) && !isPipelineCounter(first.key(name)));
  const report = { records: first.records, counters: first.counters.size };
  if (suspects.length === 0) return { ...report, drift: [], repaired: 0 };

  const second = await recount(deps.store.scan('consistent'));
  const steady = suspects.filter((name) => sameDifference(name, first, second));
  // A write between the second pass's reads would fake a difference; it shows in the rev now.
  const now = await deps.store.readCounters(
    steady.map((name) => second.key(name)),
    { timeoutMs: READ_TIMEOUT_MS },
  );
  const drifted = steady.filter((name, index) => revOf(now[index]) === revOf(second.counters.get(name)));

  let repaired = 0;
  if (options.repair) {
    for (const name of drifted) if (await repair(name, second, deps)) repaired += 1;
  }
  return { ...report, drift: drifted.map((name) => driftOf(name, second)), repaired };
}

const agrees = (pass: Recount, name: string): boolean => sameAmounts(shown(pass, name), pass.expected(name));

const shown = (pass: Recount, name: string): CounterAmounts => pass.counters.get(name) ?? NO_AMOUNTS;

const revOf = (counter: Counter | undefined): number => counter?.rev ?? 0;

const sameDifference = (name: string, first: Recount, second: Recount): boolean =>
  revOf(first.counters.get(name)) === revOf(second.counters.get(name)) &&
  // The counter stands still, so the same difference is the same recount.
  sameAmounts(first.expected(name), second.expected(name));

const driftOf = (name: string, pass: Recount): Drift => ({
  key: pass.key(name),
  counter: amountsOf(shown(pass, name)),
  recount: pass.expected(name),
});

const amountsOf = ({ committed, fitted, settled, unchecked }: CounterAmounts): CounterAmounts => ({
  committed,
  fitted,
  settled,
  unchecked,
});

async function repair(name: string, pass: Recount, deps: AttemptDeps): Promise<boolean> {
  const reset: CounterReset = {
    kind: 'reset',
    key: pass.key(name),
    amounts: pass.expected(name),
    rev: revOf(pass.counters.get(name)),
  };
  const { outcome } = await attempt([reset], deps.clock.monotonicMs() + REPAIR_TIMEOUT_MS, deps);
  return outcome === 'committed';
}

/** A record settled after its period's closing is not recounted: that is why only long ended periods are closed. */
export async function closePeriods(
  keys: readonly CounterKey[],
  deps: AttemptDeps,
): Promise<readonly CloseOutcome[]> {
  const pass = await recount(deps.store.scan());
  const results: CloseOutcome[] = [];
  for (const key of keys) results.push(await closePeriod(key, counterName(key), pass, deps));
  return results;
}

async function closePeriod(
  key: CounterKey,
  name: string,
  pass: Recount,
  deps: AttemptDeps,
): Promise<CloseOutcome> {
  const counter = pass.counters.get(name);
  if (counter === undefined || pass.live(name) > 0) return 'open';
  if (!agrees(pass, name)) return 'drifting';
  const amounts = amountsOf(counter);
  // The reset to its own amounts pins the rev: what was recounted is what is closed.
  const reset: CounterReset = { kind: 'reset', key, amounts, rev: counter.rev };
  const closing = { key, ...amounts, closedAtMs: deps.clock.nowMs(), adjusted: pass.adjusted(name) };
  const deadlineMs = deps.clock.monotonicMs() + REPAIR_TIMEOUT_MS;
  const result = await attempt([reset, { kind: 'closing', closing }], deadlineMs, deps);
  if (result.outcome === 'committed') return 'closed';
  if (result.outcome === 'gave_up') return 'undecided';
  return result.refusals[1] === undefined ? 'open' : 'unchanged';
}
