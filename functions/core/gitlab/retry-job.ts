import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import type { RestCallDeps } from './rest-call.ts';
import { restChange } from './rest-change.ts';

const retriedSchema = z.object({ id: z.int().positive() });

export type RetryOutcome =
  | { readonly outcome: 'retried'; readonly newJobId: number }
  /** It will not do it later, either. */
  | { readonly outcome: 'refused'; readonly why: string }
  /** It may or may not have done it: GitLab retries a job once, so that it can be asked again. */
  | { readonly outcome: 'unheard'; readonly why: string; readonly retryAfterMs?: number };

const RETRY_TIMEOUT_MS = 5_000;

/** `POST /projects/:id/jobs/:job_id/retry`: GitLab makes a new job of it, once. Needs scope `api` and the role Developer. */
export async function retryJob(projectId: number, jobId: number, deps: RestCallDeps): Promise<RetryOutcome> {
  try {
    const path = `/projects/${projectId}/jobs/${jobId}/retry`;
    const { status, body } = await restChange('POST', path, undefined, RETRY_TIMEOUT_MS, deps);
    const made = retriedSchema.safeParse(body);
    if (made.success) return { outcome: 'retried', newJobId: made.data.id };
    return {
      outcome: 'refused',
      why: `GitLab answered ${status}${status === 404 ? ': it has no such job' : ''}`,
    };
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    const { code, status, retryAfterMs } = error;
    if (status === 403)
      return {
        outcome: 'refused',
        why: 'GitLab answered 403: the token may not retry it, or the job cannot be retried (again)',
      };
    const why = status === undefined ? code : `GitLab answered ${status}`;
    return { outcome: 'unheard', why, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
}
