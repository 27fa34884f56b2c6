import type { CanaryOutcome, ControllerScope, RecountOutcome } from '../../core/ledger/index.ts';
import type { RelayBeat } from '../../core/store/index.ts';

/** Something that could be asked, or why it could not be. */
export type ReadResult<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly why: string };

/** What a deployment's parts left in the table, and what GitLab says of it. */
export interface HealthEvidence {
  /** Unix ms. */
  readonly nowMs: number;
  /** The last hour's; none: no relay beats beside these books. */
  readonly beats: ReadResult<readonly RelayBeat[]>;
  /** When all groups were last listed to their end, Unix ms; undefined: never. */
  readonly directoryListedAtMs: ReadResult<number | undefined>;
  /** When the live set of limits became live, Unix ms; undefined: none is. */
  readonly limitsLiveAtMs: ReadResult<number | undefined>;
  /** What the nightly recount found; undefined: there was none yet. */
  readonly recount: ReadResult<RecountOutcome | undefined>;
  /** As the sweep last read it; undefined: it never did. */
  readonly scope: ReadResult<ControllerScope | undefined>;
  /** What the last canary found; undefined: there was none. */
  readonly canary: ReadResult<CanaryOutcome | undefined>;
  /** GitLab's side: known only to whoever has a token for it. */
  readonly controller: ReadResult<ControllerEvidence>;
}

/** What GitLab says now. */
export interface ControllerEvidence {
  readonly state: 'enabled' | 'dry_run' | 'disabled';
  /** Whether GitLab asks about any job. */
  readonly hasScope: boolean;
  /** Its version; absent: it did not say. */
  readonly version?: string;
  /** GitLab's clock less ours, ms; absent: its answer has no date. */
  readonly clockAheadMs?: number;
}
