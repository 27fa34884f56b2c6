/** Answers given without the ledger, written down afterwards. They ask no bound: the job may be running already. */
import { dueAtMs } from './draft.ts';
import type { JobRecord, RecordClaim, UncheckedCause, UnmeteredAsk } from './ledger.ts';
import { changesBetween, type Move, noMove } from './move.ts';
import { reopenMove } from './reopen.ts';

/** Charged as unmetered whatever the ask says: nobody asked the counters. */
const UNCHECKED: UncheckedCause = 'unmetered';

/**
 * | record | told admitted | told rejected |
 * | --- | --- | --- |
 * | none | HELD, charged unchecked | REJECTED, nothing charged |
 * | HELD, RUNNING, SETTLED | `answered: fallback` | `answered: fallback`; the sweep finds that it never ran |
 * | REJECTED | HELD anew, charged unchecked, flagged | `answered: fallback` |
 * | RELEASED, EXPIRED | HELD anew, charged unchecked | `answered: fallback` |
 */
export function unmeteredMove(
  record: JobRecord | undefined,
  ask: UnmeteredAsk,
  nowMs: number,
): Move<'recorded'> {
  if (record === undefined)
    return ask.answered === 'admitted' ? charge(undefined, ask, nowMs) : reject(ask, nowMs);
  switch (record.state) {
    case 'HELD':
    case 'RUNNING':
    case 'SETTLED':
      return toldByFallback(record);
    case 'REJECTED':
    case 'RELEASED':
    case 'EXPIRED':
      if (ask.answered === 'rejected' || isOlder(ask, record)) return toldByFallback(record);
      return charge(record, ask, nowMs);
  }
}

/** The job was released or expired after this answer: that is the later truth. */
const isOlder = (ask: UnmeteredAsk, record: JobRecord): boolean =>
  record.state !== 'REJECTED' && ask.answeredAtMs <= (record.endedAtMs ?? record.decidedAtMs);

function toldByFallback(record: JobRecord): Move<'recorded'> {
  if (record.answered === 'fallback') return noMove('recorded');
  return {
    outcome: 'recorded',
    record: { ...record, answered: 'fallback', rev: record.rev + 1 },
    changes: [],
  };
}

function charge(prior: JobRecord | undefined, ask: UnmeteredAsk, nowMs: number): Move<'recorded'> {
  const decidedAtMs = Math.min(ask.answeredAtMs, nowMs);
  const claims = ask.claims.map(
    ({ counter, unit, amount, neverFits }): RecordClaim => ({
      counter,
      unit,
      held: amount,
      counted: amount,
      corrected: 0,
      fitted: neverFits !== true,
      checked: false,
    }),
  );
  const freed = reopenMove(prior, nowMs);
  return {
    outcome: 'recorded',
    record: {
      ...newRecord(freed.record ?? prior, ask, decidedAtMs),
      state: 'HELD',
      rev: (prior?.rev ?? 0) + 1,
      claims,
      unchecked: UNCHECKED,
      flagged: prior?.state === 'REJECTED',
      dueAtMs: dueAtMs(decidedAtMs, ask.facts.timeoutSeconds),
    },
    ...(freed.entry === undefined ? {} : { entry: freed.entry }),
    changes: [...freed.changes, ...changesBetween([], claims, { final: false, unchecked: UNCHECKED })],
  };
}

function reject(ask: UnmeteredAsk, nowMs: number): Move<'recorded'> {
  const decidedAtMs = Math.min(ask.answeredAtMs, nowMs);
  const claims = ask.claims.map(
    ({ counter, unit }): RecordClaim => ({
      counter,
      unit,
      held: 0,
      counted: 0,
      corrected: 0,
      fitted: false,
      checked: false,
    }),
  );
  return {
    outcome: 'recorded',
    record: { ...newRecord(undefined, ask, decidedAtMs), state: 'REJECTED', claims, endedAtMs: decidedAtMs },
    changes: [],
  };
}

const newRecord = (prior: JobRecord | undefined, ask: UnmeteredAsk, decidedAtMs: number): JobRecord => ({
  jobId: ask.jobId,
  state: 'REJECTED',
  generation: (prior?.generation ?? 0) + 1,
  rev: (prior?.rev ?? 0) + 1,
  facts: ask.facts,
  claims: [],
  violations: ask.violations.filter(({ mode }) => mode === 'enforce'),
  shadow: ask.violations.filter(({ mode }) => mode !== 'enforce'),
  answered: 'fallback',
  flagged: false,
  decidedAtMs,
  entries: prior?.entries ?? 0,
});
