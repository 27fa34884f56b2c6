import { UsageError } from '../command.ts';

/** A job somebody asks about, and perhaps which of its decisions. */
export interface JobReference {
  readonly jobId: number;
  readonly generation?: number;
}

const JOB_ID = /^#?(\d{1,15})$/;
const DECISION_ID = /^d-(\d{1,15})-(\d{1,9})$/;
/** As the browser shows it. */
const JOB_URL = /\/-\/jobs\/(\d{1,15})(?:[/?#].*)?$/;
const FALLBACK_ID = /^f-[\da-f-]+$/i;

/** Reads a job id, a decision id or the address of a job's page. @throws {UsageError} for anything else. */
export function readJobReference(text: string): JobReference {
  const decision = DECISION_ID.exec(text);
  if (decision !== null) return { jobId: Number(decision[1]), generation: Number(decision[2]) };
  const job = JOB_ID.exec(text) ?? JOB_URL.exec(text);
  if (job !== null && Number(job[1]) > 0) return { jobId: Number(job[1]) };
  if (FALLBACK_ID.test(text)) {
    throw new UsageError(
      `"${text}" is a decision of the relay's fallback, which the ledger does not know by its id: name the job`,
    );
  }
  throw new UsageError(
    `"${text}": expected a job id (4711), a decision id (d-4711-1) or the address of a job's page`,
  );
}
