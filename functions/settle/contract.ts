/** Job webhooks of a top-level group arrive at `/v1/gitlab/jobs/101`. */
export const JOBS_PATH = '/v1/gitlab/jobs';

/** A job event is some 5 KB; GitLab's own bound of 25 MB is for pushes. */
export const HOOK_BODY_BYTES_MAX = 1024 * 1024;

/** Proof of a delivery: a signature (GitLab 19.0 and newer), or the plain `X-Gitlab-Token`. */
export type DeliveryProof = 'signature' | 'token';

/** Response header with the accepted proof; GitLab's list of recent events shows it with the status. */
export const PROOF_HEADER = 'x-tollgate-proof';

/** For people who look at GitLab's list of recent events. */
export interface JobsResponse {
  readonly outcome:
    | 'received'
    /** This delivery had arrived before. */
    | 'repeated'
    /** Irrelevant: another event, a running job, or an unreadable event. */
    | 'dropped'
    /** 401: neither a signature nor a token of ours. */
    | 'refused'
    /** 413 */
    | 'too_large'
    /** 5xx: not written down. */
    | 'failed';
}
