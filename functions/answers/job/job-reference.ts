import type { ParseResult } from '../../../policies/document/reading.ts';

const JOB_ID = /^#?(\d{1,15})$/;
const DECISION_ID = /^d-(\d{1,15})-(\d{1,9})$/;
const JOB_URL = /\/-\/jobs\/(\d{1,15})(?:[/?#].*)?$/;
const FALLBACK_ID = /^f-[\da-f-]+$/i;
const SHOWN_CHARACTERS_MAX = 80;

export function parseJobReference(text: string): ParseResult<{ jobId: number; generation?: number }> {
  const decision = DECISION_ID.exec(text);
  if (decision !== null)
    return { ok: true, value: { jobId: Number(decision[1]), generation: Number(decision[2]) } };
  const job = JOB_ID.exec(text) ?? JOB_URL.exec(text);
  if (job !== null && Number(job[1]) > 0) return { ok: true, value: { jobId: Number(job[1]) } };
  const shown = text.slice(0, SHOWN_CHARACTERS_MAX);
  const problem = FALLBACK_ID.test(text)
    ? `"${shown}" is a decision of the relay's fallback, which the ledger does not know by its id: name the job`
    : `"${shown}": expected a job id (4711), a decision id (d-4711-1) or the address of a job's page`;
  return { ok: false, problems: [problem] };
}
