/**
 * Closing entries: what a period came to, kept for good, so that garbage collection may take its records. They are made
 * from a recount that was made anyhow: one that agrees is the proof that a closing is right, and costs no further read.
 */
import { isPipelineCounter } from '../../policies/limits/grace.ts';
import { type AttemptDeps, attempt } from './attempt.ts';
import type { RebuildReport } from './ledger.ts';
import { agrees, amountsOf, type Recount } from './recount.ts';
import { isClosable, mayLackRecords } from './retention.ts';

const TIMEOUT_MS = 10_000;
/** A month's end closes a few counters of every group. What is more than this is closed the next night: there are weeks. */
const CLOSINGS_MAX = 20_000;
const AT_ONCE = 8;

export async function closePeriods(
  pass: Recount,
  deps: AttemptDeps,
): Promise<Pick<RebuildReport, 'closed' | 'unclosed'>> {
  const nowMs = deps.clock.nowMs();
  const due = pass.names().filter((name) => isDue(name, pass, nowMs));
  const ready = due.filter((name) => pass.live(name) === 0 && agrees(pass, name)).slice(0, CLOSINGS_MAX);
  let closed = 0;
  for (let from = 0; from < ready.length; from += AT_ONCE) {
    const part = ready.slice(from, from + AT_ONCE);
    const done = await Promise.all(part.map((name) => closePeriod(name, pass, deps)));
    closed += done.filter((each) => each).length;
  }
  return { closed, unclosed: due.length - closed };
}

function isDue(name: string, pass: Recount, nowMs: number): boolean {
  const key = pass.key(name);
  if (isPipelineCounter(key) || !pass.counters.has(name)) return false;
  if (pass.closing(name) !== undefined) return pass.correctedSince(name);
  return isClosable(key, nowMs) && !mayLackRecords(key, nowMs);
}

async function closePeriod(name: string, pass: Recount, deps: AttemptDeps): Promise<boolean> {
  const counter = pass.counters.get(name);
  if (counter === undefined) return false;
  const { key, rev } = counter;
  const amounts = amountsOf(counter);
  const replaces = pass.closing(name);
  const closing = { key, ...amounts, closedAtMs: deps.clock.nowMs(), adjusted: pass.adjusted(name) };
  const { outcome } = await attempt(
    [
      // The reset to its own amounts pins the rev: what was recounted is what is closed.
      { kind: 'reset', key, amounts, rev },
      { kind: 'closing', closing, ...(replaces !== undefined && { replaces }) },
    ],
    deps.clock.monotonicMs() + TIMEOUT_MS,
    deps,
  );
  return outcome === 'committed';
}
