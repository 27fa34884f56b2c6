/** What a record says about the same job asked again. */
import type { HoldOutcome, JobRecord } from './ledger.ts';

/** A rejection stands this long; then the job is evaluated anew, because the limit may have been raised. */
export const REJECTION_STANDS_MS = 60_000;

/**
 * | record | asked again |
 * | --- | --- |
 * | HELD, RUNNING, SETTLED | the same answer always |
 * | REJECTED | the same answer for 60 s, then evaluated anew |
 * | RELEASED, EXPIRED, RESERVED | evaluated anew |
 *
 * Anew means generation + 1. `undefined`: evaluate anew.
 */
export function answerFromRecord(record: JobRecord, nowMs: number): HoldOutcome | undefined {
  const { generation, shadow } = record;
  switch (record.state) {
    case 'HELD':
    case 'RUNNING':
    case 'SETTLED':
      return { outcome: 'admitted', generation, repeated: true, shadow };
    case 'REJECTED': {
      const [first, ...rest] = record.violations;
      // The fallback may have rejected without a reason of ours: then there is no answer to repeat.
      if (first === undefined || !stillStands(record.decidedAtMs, nowMs)) return undefined;
      return { outcome: 'rejected', generation, repeated: true, violations: [first, ...rest], shadow };
    }
    case 'RELEASED':
    case 'EXPIRED':
    case 'RESERVED':
      return undefined;
  }
}

/** Two writers' clocks may differ: a rejection from a little in the future stands as well. */
const stillStands = (decidedAtMs: number, nowMs: number): boolean =>
  Math.abs(nowMs - decidedAtMs) < REJECTION_STANDS_MS;
