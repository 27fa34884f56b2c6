import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { parseTarget } from '../../../relay/router/target.ts';
import { decodeGetJob, encodeGetJob, GET_JOB_PATH } from '../router/get-job.ts';

/** The outcome of one GetJob. */
type GetJobOutcome =
  | { readonly kind: 'job'; readonly payload: unknown }
  | { readonly kind: 'none' }
  /** The router has no GetJob. */
  | { readonly kind: 'disabled' }
  /** Out of reach; the breaker counts it. */
  | { readonly kind: 'unreachable' }
  /** Answered with an error. */
  | { readonly kind: 'refused'; readonly code: number };

/** A runner's connection to the router. `grpc://` only. */
export interface RunnerRouter {
  getJob(request: object, deadlineMs: number): Promise<GetJobOutcome>;
  close(): void;
}

const UNREACHABLE: readonly number[] = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED];

/** @throws {RelayError} for an invalid address. */
export function dialRouter(url: string, runnerToken: string): RunnerRouter {
  const { host, port } = parseTarget(url);
  const client = new Client(`dns:${host}:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 20,
    'grpc.max_reconnect_backoff_ms': 100,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${runnerToken}`);
  metadata.set('gitlab-agent-type', 'runner');
  return {
    getJob: (request, deadlineMs) =>
      new Promise((resolve) => {
        const answered = (error: ServiceError | null, payload?: unknown): void => {
          if (error === null) resolve(payload === undefined ? { kind: 'none' } : { kind: 'job', payload });
          else if (error.code === status.UNIMPLEMENTED) resolve({ kind: 'disabled' });
          else if (UNREACHABLE.includes(error.code)) resolve({ kind: 'unreachable' });
          else resolve({ kind: 'refused', code: error.code });
        };
        client.makeUnaryRequest(
          GET_JOB_PATH,
          (body: object) => Buffer.from(encodeGetJob(body)),
          (bytes: Buffer) => decodeGetJob(bytes),
          request,
          metadata,
          { deadline: Date.now() + deadlineMs },
          answered,
        );
      }),
    close: () => client.close(),
  };
}
