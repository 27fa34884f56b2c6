/** What a caller tells of jobs that it keeps waiting, as the ledger asks for it. */
import type { WaitingTerms } from '../contract/index.ts';
import type { WaitAsk } from '../ledger/index.ts';
import type { WaitLookup } from './decide-deps.ts';

const NEVER_WAITED: WaitAsk = { waitedMs: 0, last: false, behind: new Set() };

/** By job; those that are not named wait for the first time, behind everybody. */
export function waitsOf({ lines = [], jobs = [] }: WaitingTerms): WaitLookup {
  const others = lines.length === 0 ? NEVER_WAITED : { ...NEVER_WAITED, behind: new Set(lines) };
  const byJob = new Map<number, WaitAsk>();
  for (const { jobId, waitedMs, turn = [], last = false } of jobs)
    byJob.set(jobId, { waitedMs, last, behind: new Set(lines.filter((name) => !turn.includes(name))) });
  return (jobId) => byJob.get(jobId) ?? others;
}
