import type { StoredEstimates } from '../estimates/index.ts';
import type { Consistency } from '../ledger/index.ts';
import type { Contribution } from './contribution.ts';
import type { UsageTally } from './tally.ts';
import type { UsageKey } from './usage.ts';

/**
 * The rollup's interface to a table. Eventual reads cost half; a write after a stale read is refused. Every
 * method throws `ledger_unavailable` if the table does not answer.
 */
export interface RollupStore {
  /** Returns the jobs' contributions; one per job id, same order. */
  readContributions(
    jobIds: readonly number[],
    consistency?: Consistency,
  ): Promise<readonly (Contribution | undefined)[]>;
  /**
   * Applies all writes or none. `contended`: a job was counted concurrently, or the table is busy; read
   * again.
   */
  commit(writes: RollupWrites): Promise<'committed' | 'contended'>;
  /** Consistent; one per key, same order. */
  readUsage(keys: readonly UsageKey[]): Promise<readonly UsageTally[]>;
  /** One per project, same order. */
  readEstimates(
    projectIds: readonly number[],
    consistency?: Consistency,
  ): Promise<readonly StoredEstimates[]>;
  /** @param estimates - with the `rev` of the read. Returns false on a concurrent write. */
  writeEstimates(projectId: number, estimates: StoredEstimates, nowMs: number): Promise<boolean>;
  readTop(keys: readonly UsageKey[], consistency?: Consistency): Promise<readonly TopProjects[]>;
  /** Returns false on a concurrent write. */
  writeTop(top: TopProjects): Promise<boolean>;
  /** One per subject, same order. */
  readRejections(
    subjects: readonly string[],
    consistency?: Consistency,
  ): Promise<readonly LatestRejections[]>;
  /** Returns false on a concurrent write. */
  writeRejections(latest: LatestRejections): Promise<boolean>;
}

export interface RollupWrites {
  readonly contributions: readonly {
    readonly after: Contribution;
    /** The counted `rev`; absent: nothing is counted yet. */
    readonly replacesRev?: number;
    /** When garbage collection may take it, Unix seconds; absent: never. */
    readonly expiresAtSeconds?: number;
  }[];
  /** Each `delta` is added to what is there. */
  readonly usage: readonly { readonly key: UsageKey; readonly delta: UsageTally }[];
}

/** The jobs of a subject that were rejected last; what there is to say about them is in their records. */
export interface LatestRejections {
  readonly subject: string;
  /** Latest first. */
  readonly jobs: readonly { readonly jobId: number; readonly atMs: number }[];
  /** 0: there is no item yet. */
  readonly rev: number;
}

/** The projects of a subject and day that cost most. */
export interface TopProjects {
  readonly key: UsageKey;
  /** Most first. */
  readonly projects: readonly { readonly projectId: number; readonly micros: number }[];
  /** 0: there is no item yet. */
  readonly rev: number;
}

/** A first try is right nearly always; one after a refused write must not be refused for the same stale read. */
export const readAt = (tries: number): Consistency => (tries === 1 ? 'eventual' : 'consistent');
