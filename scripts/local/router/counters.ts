/**
 * The router's counters. The two `job_router_…` families carry the names and labels of GitLab's own metrics, so that
 * a check learned here works on a real installation.
 */
export const newCounters = () => ({
  /** One per job. `disabled`: no controller applied, and the job goes through. */
  job_router_admission_control_total: { admitted: 0, rejected: 0, failed: 0, disabled: 0 },
  /** One per request to a controller, by result and by label `dry_run`. */
  job_router_admission_control_requests_total: {
    admitted: { true: 0, false: 0 },
    rejected: { true: 0, false: 0 },
    failed: { true: 0, false: 0 },
  },
  /** `refused`: calls that failed before they became streams. */
  streams: { opened: 0, refused: 0, asked: 0 },
  /** `upgrades`: to WebSocket. `upgradesWithToken`: those with a bearer token. */
  connections: { opened: 0, upgrades: 0, upgradesWithToken: 0 },
  /** Rules of the protocol that a controller broke. */
  violations: {
    /** Not exactly one variant, an empty or overlong reason, or bytes that do not parse. */
    invalid_answer: 0,
    answer_before_question: 0,
    second_answer: 0,
    /** Half-closed without an answer. */
    closed_unanswered: 0,
    /** Answered and left its side open. */
    not_half_closed: 0,
    text_frame: 0,
    wrong_subprotocol: 0,
  },
});

export type RouterCounters = ReturnType<typeof newCounters>;
export type JobResult = keyof RouterCounters['job_router_admission_control_total'];
export type AskResult = keyof RouterCounters['job_router_admission_control_requests_total'];
export type ProtocolViolation = keyof RouterCounters['violations'];
