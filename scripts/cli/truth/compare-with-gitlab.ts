import type { GitLab } from '../../../functions/core/gitlab/index.ts';
import {
  type ControllerScope,
  isLive,
  type JobRecord,
  type LedgerStore,
} from '../../../functions/core/ledger/index.ts';
import {
  type ComparedJob,
  type EnforcementProof,
  enforcementProof,
  type JobVerdict,
  unadmittedShare,
} from '../../../functions/core/truth/index.ts';
import { askGitLab, type GitLabTruths } from './ask-gitlab.ts';

interface CompareOptions {
  /** Unix ms: live jobs, and those that were decided or ended since. */
  readonly sinceMs: number;
  /** Unix ms. */
  readonly nowMs: number;
  readonly askedMax: number;
  /** The controller's scope, as the sweep last read it. @default all jobs */
  readonly scope?: ControllerScope | undefined;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onCall: () => void;
}

/** Output of `--json`. */
export interface Comparison extends Pick<EnforcementProof, 'figures' | 'findings'> {
  readonly sinceMs: number;
  /** Share of the jobs that ran; absent where the runners' jobs could not be listed in full. */
  readonly unadmittedShare?: number;
  readonly unasked: number;
  readonly runners: GitLabTruths['runners'];
}

export interface HoldComparison {
  readonly comparison: Comparison;
  /** The sweep's decisions about the findings. */
  readonly verdicts: readonly JobVerdict[];
}

/** Some 2 KB each: with more a shorter time does better than a larger machine. */
const RECORDS_MAX = 200_000;
const READ_BATCH = 100;
const READ_TIMEOUT_MS = 15_000;

/** @throws {Error} with the remedy when there are too many jobs, {GitLabError} and {LedgerError} as they come. */
export async function compareWithGitLab(
  store: LedgerStore,
  gitlab: GitLab,
  options: CompareOptions,
): Promise<HoldComparison> {
  const records = await recentRecords(store, options.sinceMs);
  const wanted = [...records.values()].map(({ jobId, facts }) => ({ jobId, projectId: facts.projectId }));
  const says = await askGitLab(wanted, gitlab, options);
  // Jobs that only GitLab has may be older or new: bypassed only without a record.
  const others = [...says.truths.keys()].filter((jobId) => !records.has(jobId));
  for (let from = 0; from < others.length; from += READ_BATCH) {
    const batch = others.slice(from, from + READ_BATCH);
    const found = await store.readRecords(batch, { timeoutMs: READ_TIMEOUT_MS });
    for (const record of found) if (record !== undefined) records.set(record.jobId, record);
  }
  const jobs: ComparedJob[] = [...says.truths].map(([jobId, truth]) => ({
    record: records.get(jobId),
    truth,
  }));
  const { figures, findings, verdicts } = enforcementProof(jobs, options.nowMs, options.scope);
  const comparison: Comparison = {
    sinceMs: options.sinceMs,
    figures,
    findings: [...findings].sort((a, b) => a.kind.localeCompare(b.kind, 'en') || a.jobId - b.jobId),
    ...(says.runners === 'all' && { unadmittedShare: unadmittedShare(figures) }),
    unasked: says.unasked,
    runners: says.runners,
  };
  return { comparison, verdicts };
}

async function recentRecords(store: LedgerStore, sinceMs: number): Promise<Map<number, JobRecord>> {
  const records = new Map<number, JobRecord>();
  for await (const item of store.scan()) {
    if (item.kind !== 'record') continue;
    const { record } = item;
    const lastMs = Math.max(record.decidedAtMs, record.endedAtMs ?? 0);
    if (lastMs < sinceMs && !isLive(record)) continue;
    if (records.size >= RECORDS_MAX)
      throw new Error(`more than ${RECORDS_MAX} jobs since then: compare a shorter time with --since`);
    // The recorded request is the largest part and unused here.
    const { asked: _asked, ...facts } = record.facts;
    records.set(record.jobId, { ...record, facts });
  }
  return records;
}
