/**
 * Whether streams may be opened. After a failure the gate waits, then lets one probe through; only when that lives do
 * the others follow. A pool of 256 thus knocks once, not 256 times.
 */
export type Gate =
  /** One stream at a time without proof that the router takes us. */
  | { readonly name: 'probing'; readonly attempt: number }
  | { readonly name: 'open'; readonly attempt: number; readonly sinceMs: number }
  | { readonly name: 'backing_off'; readonly attempt: number; readonly code: number };

export const FIRST_GATE: Gate = { name: 'probing', attempt: 0 };

/** A probe that waits this long without a word is taken for accepted: routers need not speak before they ask. */
export const PROBATION_MS = 1_000;
/** A gate open this long has forgotten the failures before it. */
const FORGET_MS = 10_000;

/** The probe lives. `asked`: it carried a question, so the router surely takes us, and past failures are over. */
export function lived(gate: Gate, asked: boolean, nowMs: number): Gate {
  if (gate.name === 'probing') return { name: 'open', attempt: asked ? 0 : gate.attempt, sinceMs: nowMs };
  return gate;
}

/** A stream failed. While waiting that is no news: streams of one connection all fail at once. */
export function failed(gate: Gate, code: number, nowMs: number): Gate {
  if (gate.name === 'backing_off') return gate;
  const forgotten = gate.name === 'open' && nowMs - gate.sinceMs >= FORGET_MS;
  return { name: 'backing_off', attempt: (forgotten ? 0 : gate.attempt) + 1, code };
}

export const waited = (gate: Gate): Gate =>
  gate.name === 'backing_off' ? { name: 'probing', attempt: gate.attempt } : gate;
