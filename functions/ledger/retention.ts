/**
 * When garbage collection may take an ended record or entry. Later than the longest open period, because a rebuild
 * recounts open periods from their records, plus 90 days in which people ask about a job.
 */
export const LONGEST_PERIOD_DAYS = 31;
export const RETENTION_DAYS = LONGEST_PERIOD_DAYS + 90;

const DAY_MS = 24 * 3_600_000;

/** Unix seconds, as DynamoDB's TTL wants them. */
export const expiresAtSeconds = (endedAtMs: number): number =>
  Math.ceil((endedAtMs + RETENTION_DAYS * DAY_MS) / 1000);
