/** Decides repeated admission requests from the record. */
import type { HoldOutcome, JobRecord } from './ledger.ts';

/**
 * A rejection is repeated for this time. Then the job is evaluated again, because the limit may have been
 * raised.
 */
export const REJECTION_STANDS_MS = 60_000;

/**
 * Returns the earlier decision, or undefined to evaluate the job again with generation + 1.
 *
 * | record | repeated request |
 * | --- | --- |
 * | HELD, RUNNING, SETTLED | the same decision always |
 * | REJECTED | the same decision for 60 s, then a new evaluation |
 * | RELEASED, EXPIRED, RESERVED | a new evaluation |
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
