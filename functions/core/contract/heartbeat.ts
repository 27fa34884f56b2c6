/** What a relay says of itself every 30 s, as it writes it and as the watchdog and people read it. */
export interface Beat {
  /** Unix ms, by the relay's own clock. */
  readonly atMs: number;
  readonly openStreams: number;
  /** Absent: this relay does not tell. */
  readonly schema?: BeatSchema;
  /** Since all groups of GitLab were listed, as this relay knows them; before it has a directory, since its start. */
  readonly directoryAgeMs?: number;
  /** What stops calls to a function that fails: `closed` lets them through. */
  readonly breaker?: string;
  /** The policy it was started with, by its version. */
  readonly policyVersion?: string;
  /** The longest a question about a job that waits is kept open. */
  readonly answerWithinMs?: number;
  /** The longest lines of jobs that wait for room, at most {@link WAITING_LINES_MAX}, in the order of their turns. Absent: none waits. */
  readonly waiting?: readonly WaitingLine[];
}

export const WAITING_LINES_MAX = 20;

/** How many jobs of one root group wait for one counter. */
export interface WaitingLine {
  /** Its id, or what is known of it. */
  readonly root: string;
  /** By name: `group/101|jobs-now|now`. */
  readonly counter: string;
  readonly jobs: number;
  /** How long the one that has waited longest has. Absent: the relay does not tell. */
  readonly longestMs?: number;
}

/** The descriptors a relay reads GitLab's questions with. */
export interface BeatSchema {
  readonly source: string;
  readonly hash?: string;
  /** Those that come along with Tollgate: no GitLab has their field numbers. */
  readonly placeholder?: boolean;
  /** Whether real questions were explained by them: `proven` and whatever else the relay calls it. */
  readonly standing?: string;
}
