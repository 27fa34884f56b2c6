/**
 * What the router counts, as plain numbers. The two `job_router_…` families carry the names and labels of GitLab's
 * own metrics, so that a check learned here works on a real installation.
 */
export interface RouterCounters {
  /** One per job. `disabled`: no controller applied, the job goes through. */
  readonly job_router_admission_control_total: Record<JobResult, number>;
  /** One per controller asked, by result and by label `dry_run`. */
  readonly job_router_admission_control_requests_total: Record<AskResult, { true: number; false: number }>;
  readonly streams: {
    opened: number;
    /** Calls refused before they became streams: token, agent type, or a fault. */
    refused: number;
    /** Ended cleanly because of their age. */
    aged: number;
    asked: number;
  };
  readonly connections: {
    opened: number;
    /** WebSocket upgrades, and how many of them carried a bearer token. */
    upgrades: number;
    upgradesWithToken: number;
  };
  readonly violations: Record<ProtocolViolation, number>;
}

export type AskResult = 'admitted' | 'rejected' | 'failed';
export type JobResult = AskResult | 'disabled';

/** What a controller must not do on its stream or its tunnel. */
export type ProtocolViolation =
  /** Not exactly one arm, an empty or overlong reason, or bytes that do not parse. */
  | 'invalid_answer'
  | 'answer_before_question'
  | 'second_answer'
  /** Half-closed without having answered. */
  | 'closed_unanswered'
  /** Answered and left its side open. */
  | 'not_half_closed'
  | 'text_frame'
  | 'wrong_subprotocol';

export function newCounters(): RouterCounters {
  return {
    job_router_admission_control_total: {
      admitted: 0,
      rejected: 0,
      failed: 0,
      disabled: 0,
    },
    job_router_admission_control_requests_total: {
      admitted: { true: 0, false: 0 },
      rejected: { true: 0, false: 0 },
      failed: { true: 0, false: 0 },
    },
    streams: { opened: 0, refused: 0, aged: 0, asked: 0 },
    connections: { opened: 0, upgrades: 0, upgradesWithToken: 0 },
    violations: {
      invalid_answer: 0,
      answer_before_question: 0,
      second_answer: 0,
      closed_unanswered: 0,
      not_half_closed: 0,
      text_frame: 0,
      wrong_subprotocol: 0,
    },
  };
}
