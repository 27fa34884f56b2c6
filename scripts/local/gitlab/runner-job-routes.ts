import type { Hono } from 'hono';
import { z } from 'zod';
import type { JobBook } from './job-book.ts';
import type { RunnerJobBook } from './runner-job-book.ts';

/** Runners ask with tokens of their own, and with those of jobs. */
export const RUNNER_PATH = /^\/api\/v4\/jobs\//;

const Asked = z.object({ token: z.string() });
const Reported = z.object({
  token: z.string(),
  state: z.enum(['running', 'success', 'failed']),
  failure_reason: z.string().optional(),
});

/** A runner's side of GitLab without a job router: ask for a job, say how it goes, append to its trace. */
export function runnerJobRoutes(app: Hono, jobs: RunnerJobBook, book: JobBook): void {
  app.post('/jobs/request', async (c) => {
    const asked = Asked.safeParse(await c.req.json());
    const outcome = asked.success ? jobs.request(asked.data.token) : { kind: 'refused' as const };
    if (outcome.kind === 'refused') return c.json({ message: '403 Forbidden' }, 403);
    return outcome.kind === 'none' ? c.body(null, 204) : c.json(outcome.payload, 201);
  });
  app.put('/jobs/:jobId', async (c) => {
    const said = Reported.safeParse(await c.req.json());
    if (!said.success) return c.json({ error: 'state does not have a valid value' }, 400);
    const job = jobs.jobOf(Number(c.req.param('jobId')), said.data.token);
    if (job === undefined) return c.json({ message: '403 Forbidden' }, 403);
    jobs.report(job, said.data.state, said.data.failure_reason);
    c.header('Job-Status', job.status);
    return c.json(200);
  });
  app.patch('/jobs/:jobId/trace', async (c) => {
    const job = jobs.jobOf(Number(c.req.param('jobId')), c.req.header('job-token'));
    if (job === undefined) return c.json({ message: '403 Forbidden' }, 403);
    c.header('Job-Status', job.status);
    // A job that is over takes no more.
    if (job.status !== 'running') return c.json({ message: '403 Forbidden' }, 403);
    book.appendTrace(job, await c.req.text());
    return c.body(null, 202);
  });
}
