/** A relay's heartbeat, written every 30 s and read by the watchdog and by people. */
export interface Beat {
  /** Unix ms, by the relay's own clock. */
  readonly atMs: number;
  readonly openStreams: number;
  /** Absent: not reported. */
  readonly schema?: BeatSchema;
  /** Since all groups of GitLab were listed, as this relay knows them; before it has a directory, since its start. */
  readonly directoryAgeMs?: number;
  /** State of the circuit breaker: `closed` lets calls through. */
  readonly breaker?: string;
  /** The policy it was started with, by its version. */
  readonly policyVersion?: string;
  /** The longest a question about a job that waits is kept open. */
  readonly answerWithinMs?: number;
  /** The longest lines of jobs that wait for room, at most {@link WAITING_LINES_MAX}, in the order of their turns. Absent: none waits. */
  readonly waiting?: readonly WaitingLine[];
}

export const WAITING_LINES_MAX = 20;

/** Jobs of one root group that wait for one counter. */
export interface WaitingLine {
  /** Its id, or what is known of it. */
  readonly root: string;
  /** By name: `group/101|jobs-now|now`. */
  readonly counter: string;
  readonly jobs: number;
  /** The longest wait, ms. Absent: not reported. */
  readonly longestMs?: number;
}

/** The descriptors a relay reads GitLab's questions with. */
export interface BeatSchema {
  readonly source: string;
  readonly hash?: string;
  /** Those that come along with Tollgate: no GitLab has their field numbers. */
  readonly placeholder?: boolean;
  /** The schema's status: `proven`, or another word of the relay. */
  readonly standing?: string;
}
