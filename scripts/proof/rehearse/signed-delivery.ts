import { Webhook } from 'standardwebhooks';
import { WEBHOOK_PATH } from '../../../functions/names.ts';
import { documentedUrlEvent } from './function-url-event.ts';

interface EndedJob {
  readonly jobId: number;
  readonly projectId: number;
}

/** GitLab's webhook for a job that ran a minute, as the Function URL hands it over, signed with `secret`. */
export function signedDelivery(secret: string, { jobId, projectId }: EndedJob): Record<string, unknown> {
  const at = new Date();
  const seconds = (back: number): string => new Date(at.getTime() - back * 1000).toISOString();
  const body = JSON.stringify({
    object_kind: 'build',
    build_id: jobId,
    build_name: 'rehearsal',
    build_status: 'success',
    build_created_at_iso: seconds(180),
    build_started_at_iso: seconds(120),
    build_finished_at_iso: seconds(60),
    build_duration: 60,
    project_id: projectId,
    pipeline_id: 1,
  });
  const headers = {
    'x-gitlab-event': 'Job Hook',
    'webhook-id': 'rehearsal-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('rehearsal-1', at, body),
  };
  return documentedUrlEvent({ path: WEBHOOK_PATH, headers, body, base64: true });
}
