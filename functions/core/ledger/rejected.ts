/** What became of a rejection. GitLab obeys only while the controller is `enabled`; in `dry_run` every job runs. */
import type { JobRecord } from './ledger.ts';

/**
 * We rejected it, and it ran all the same: in dry run, or past us. It is charged unchecked and flagged. A bypass that was
 * never asked about has nothing against it and is not flagged.
 */
export const ranRejected = ({
  unchecked,
  flagged,
  violations,
}: Pick<JobRecord, 'unchecked' | 'flagged' | 'violations'>): boolean =>
  unchecked === 'bypass' && (flagged || violations.length > 0);

/** We rejected it, whatever became of it. */
export const wasRejected = (
  record: Pick<JobRecord, 'state' | 'unchecked' | 'flagged' | 'violations'>,
): boolean => record.state === 'REJECTED' || ranRejected(record);
