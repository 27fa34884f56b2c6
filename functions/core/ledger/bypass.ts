/** A job that ran and was never asked about, charged after the fact. It asks no bound: it has run already. */
import type { BypassAsk, EndOutcome, JobRecord, RecordClaim } from './ledger.ts';
import type { Move } from './move.ts';
import { settleMove } from './settle.ts';

/**
 * | record | |
 * | --- | --- |
 * | none | SETTLED at once under generation 1, charged on the ask's counters, unchecked `bypass` |
 * | any | settled like every other end, on the counters of the record: the ask's claims do not matter |
 *
 * An admission that comes later finds SETTLED and is told `admitted`: the job has run, and is charged once.
 */
export function bypassMove(record: JobRecord | undefined, ask: BypassAsk, nowMs: number): Move<EndOutcome> {
  if (record !== undefined) return settleMove(record, ask, nowMs);
  const { record: settled, ...move } = settleMove(neverAsked(ask, nowMs), ask, nowMs);
  // Nobody rejected it: `unchecked` alone says how it came here.
  return settled === undefined ? move : { ...move, record: { ...settled, flagged: false } };
}

/** Holds nothing, like a rejected job, so that it settles like one that ran nevertheless. */
const neverAsked = (ask: BypassAsk, nowMs: number): JobRecord => ({
  jobId: ask.jobId,
  state: 'REJECTED',
  generation: 1,
  rev: 0,
  facts: ask.facts,
  claims: ask.claims.map(
    ({ counter, unit }): RecordClaim => ({
      counter,
      unit,
      held: 0,
      counted: 0,
      corrected: 0,
      fitted: true,
      checked: false,
    }),
  ),
  violations: ask.violations.filter(({ mode }) => mode === 'enforce'),
  shadow: ask.violations.filter(({ mode }) => mode !== 'enforce'),
  answered: 'unknown',
  flagged: false,
  decidedAtMs: ask.decidedAtMs ?? startedAtMs(ask, nowMs),
  entries: 0,
});

/** When it would have been asked about, as far as its end says; never in the future, whatever the clocks say. */
const startedAtMs = ({ endedAtMs, durationSeconds }: BypassAsk, nowMs: number): number =>
  Math.min(nowMs, Math.max(0, endedAtMs - Math.max(0, durationSeconds) * 1000));
