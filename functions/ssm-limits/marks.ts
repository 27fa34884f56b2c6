/** What is remembered of parameters: which version is in force, and which limits came from it. */

export interface Marks {
  /** All of them, by group. @throws {SsmLimitsError} `marks_unavailable` */
  readAll(): Promise<ReadonlyMap<number, ParameterMark>>;
  /** Writes marks over those there are. @throws {SsmLimitsError} `marks_unavailable`: some may be written. */
  write(marks: readonly ParameterMark[]): Promise<void>;
  /** Forgets groups whose parameter and whose limits are gone. @throws {SsmLimitsError} `marks_unavailable` */
  forget(groups: readonly number[]): Promise<void>;
  /** @throws {SsmLimitsError} `marks_unavailable` */
  readPass(): Promise<ListingPass>;
  /** @throws {SsmLimitsError} `marks_unavailable` */
  writePass(pass: ListingPass): Promise<void>;
}

export interface ParameterMark {
  readonly group: number;
  /** What is in force; 0: nothing yet. */
  readonly version: number;
  /** When that version was written, Unix ms: a parameter that was deleted and made again begins with version 1 anew. */
  readonly modifiedAtMs: number;
  readonly owned: readonly OwnedLimit[];
}

/** A limit as a parameter put it there. */
export interface OwnedLimit {
  readonly id: string;
  /**
   * It was not there before: it goes with its parameter. A limit that somebody else made, and that a parameter changed,
   * stays when the parameter goes.
   */
  readonly created: boolean;
  /**
   * The entry as it stands in the value. Two while an edit is under way: before and after. Whatever is live and is none of
   * these was changed elsewhere.
   */
  readonly entries: readonly SsmLimitEntry[];
}

/** An entry of `limits` in limits.yaml, without `on`. */
export type SsmLimitEntry = Readonly<Record<string, unknown>>;

/** How far the last listing came. */
export interface ListingPass {
  /** When the last listing that came to its end began, Unix ms. */
  readonly completeFromMs?: number;
  /** One that ran out of time. */
  readonly unfinished?: {
    readonly fromMs: number;
    readonly token: string;
    /** Groups seen so far. */
    readonly seen: readonly number[];
  };
}
