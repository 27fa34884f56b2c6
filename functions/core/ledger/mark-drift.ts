/** What a recount leaves on the counters for whoever closes their periods. */
import { type AttemptDeps, attempt } from './attempt.ts';
import type { Counter } from './ledger.ts';
import { agrees, amountsOf, type Recount } from './recount.ts';
import { expiring } from './retention.ts';

const TIMEOUT_MS = 10_000;
/** What is more than this is marked the next night. */
const MARKS_MAX = 20_000;
const AT_ONCE = 8;

/**
 * @param drifted - counters that drift, by name: they get the mark. Others that have it and agree lose it.
 * @param unclosed - names of counters that ought to be closed by now: they are put in line again.
 */
export async function markDrift(
  pass: Recount,
  { drifted, unclosed }: { readonly drifted: readonly string[]; readonly unclosed: readonly string[] },
  deps: AttemptDeps,
): Promise<void> {
  const drifting = new Set(drifted);
  const overdue = new Set(unclosed);
  const due = [...pass.counters].filter(
    ([name, { drifts }]) =>
      overdue.has(name) || (drifts === undefined ? drifting.has(name) : agrees(pass, name)),
  );
  for (let from = 0; from < Math.min(due.length, MARKS_MAX); from += AT_ONCE) {
    const part = due.slice(from, Math.min(from + AT_ONCE, MARKS_MAX));
    await Promise.all(part.map(([name, counter]) => mark(counter, drifting.has(name), deps)));
  }
}

/** A counter that somebody wrote meanwhile keeps what it has: the next recount comes back to it. */
async function mark(counter: Counter, drifts: boolean, deps: AttemptDeps): Promise<void> {
  const { key, rev } = counter;
  const reset = { kind: 'reset', key, amounts: amountsOf(counter), rev, ...(drifts && { drifts }) } as const;
  await attempt([expiring(reset, deps.clock.nowMs())], deps.clock.monotonicMs() + TIMEOUT_MS, deps);
}
