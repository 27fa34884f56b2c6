/** Lists runs by GitLab for the audit: every job of every runner in a span. Jobs are read without the ledger's parser. */
import { z } from 'zod';
import {
  pageQuery,
  type RestCallDeps,
  readPage,
  restCall,
  retryWhenLimited,
} from '../../../functions/core/gitlab/rest-call.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import type { RunOfJob } from '../audit/recompute/compare-charges.ts';
import { pagesOf } from './compare-with-gitlab.ts';

/** GitLab's longest job: what started later than this before the span cannot end in it. */
const LONGEST_JOB_MS = 35 * 86_400_000;
const BY_ID = { order_by: 'id', sort: 'desc', pagination: 'keyset' };

/** @param downToId - the first job that the books name: a job may be made long before it is started */
export async function* runsOf(
  { fromMs, toMs, downToId }: Readonly<Record<'fromMs' | 'toMs' | 'downToId', number>>,
  calls: RestCallDeps,
  onJob: () => void,
): AsyncGenerator<RunOfJob> {
  for await (const { id } of listed('/runners/all', {}, calls)) {
    const path = `/runners/${Number(id)}`;
    const { body } = await retryWhenLimited(
      () => restCall(path, new URLSearchParams(), calls),
      calls.clock.sleep,
    );
    const tags = isRecord(body) && Array.isArray(body.tag_list) ? body.tag_list.map(String) : [];
    for await (const job of listed(`${path}/jobs`, BY_ID, calls)) {
      const run = readRun(job, Number(id), tags);
      if (run.createdAtMs < fromMs - LONGEST_JOB_MS && run.jobId < downToId) break;
      if (run.createdAtMs >= toMs) continue;
      onJob();
      yield run;
    }
  }
}

async function* listed(path: string, query: Readonly<Record<string, string>>, calls: RestCallDeps) {
  const read = ({ page }: { readonly page?: string }) =>
    readPage('entries', path, pageQuery(query, page), z.record(z.string(), z.unknown()), calls);
  for await (const { entries } of pagesOf(read, { sleep: calls.clock.sleep, onCall: () => {} }))
    yield* entries;
}

function readRun(
  job: Readonly<Record<string, unknown>>,
  runnerId: number,
  runnerTags: readonly string[],
): RunOfJob {
  const instant = (value: unknown): number | undefined =>
    typeof value === 'string' ? Date.parse(value) : undefined;
  return {
    jobId: Number(job.id),
    projectPath: isRecord(job.project) ? String(job.project.path_with_namespace) : '',
    ...{ runnerId, runnerTags, failureReason: job.failure_reason },
    createdAtMs: instant(job.created_at) ?? 0,
    startedAtMs: instant(job.started_at),
    isOver: instant(job.finished_at) !== undefined,
    seconds: typeof job.duration === 'number' ? job.duration : undefined,
  };
}
