export interface BreakGlassState {
  readonly id: string;
  readonly subject: string;
  readonly path?: string;
  readonly users: readonly number[];
  /** Names of these, by id, as far as the limits know them. */
  readonly userNames?: Readonly<Record<number, string>>;
  readonly protected: boolean;
  readonly jobs: number;
  readonly per: 'hour' | 'day' | 'once';
  /** Jobs it let in, in the period that is open now (or in all). */
  readonly used: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** IANA zone of the edges, for texts. Absent: UTC. */
  readonly zone?: string;
  readonly reason: string;
  readonly ticket?: string;
  readonly by?: string;
  readonly open: boolean;
  /** Not reviewed yet. */
  readonly toReview: boolean;
  readonly reviewedBy?: string;
  readonly note?: string;
}
