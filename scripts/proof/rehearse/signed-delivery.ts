import { groupHookKey, groupHookUrl } from '../../../functions/core/gitlab/index.ts';
import { WEBHOOK_PATH } from '../../../functions/names.ts';
import { jobHookBody } from '../../local/gitlab/bodies.ts';
import type { LocalJob } from '../../local/gitlab/jobs.ts';
import { hookRequester } from '../../local/gitlab/webhooks.ts';
import { documentedUrlEvent } from './function-url-event.ts';

const GITLAB = 'https://gitlab.example.com';

/** A group's webhook for a job that ran a minute, as the Function URL hands it over. @param secret - of the deployment */
export async function signedDelivery(
  secret: string,
  { jobId, projectId, rootNamespaceId }: Readonly<Record<'jobId' | 'projectId' | 'rootNamespaceId', number>>,
): Promise<Record<string, unknown>> {
  const nowMs = Date.now();
  const job: LocalJob = {
    id: jobId,
    projectId,
    projectPath: 'acme/rehearsal',
    name: 'rehearsal',
    pipelineId: 1,
    status: 'success',
    createdAtMs: nowMs - 180_000,
    startedAtMs: nowMs - 120_000,
    finishedAtMs: nowMs - 60_000,
  };
  const path = groupHookUrl(WEBHOOK_PATH, rootNamespaceId);
  const signingToken = groupHookKey(secret, rootNamespaceId);
  const requestOf = hookRequester(`${GITLAB}${path}`, GITLAB, { signingToken }, 'rehearsal');
  const message = { webhookId: 'rehearsal-1', body: jobHookBody(job, GITLAB, nowMs) };
  const request = requestOf(message, nowMs, new AbortController().signal);
  const headers = Object.fromEntries(request.headers);
  return documentedUrlEvent({ path, headers, body: await request.text(), base64: true });
}
