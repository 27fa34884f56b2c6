/**
 * The single way to edit limits, for the command line, CSV and SSM imports, the API and the console. Every
 * edit is checked as a whole against its author's rights, and is published completely or not at all.
 *
 * Subjects are texts: `instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, and
 * in edits and rows two more: `personal` (every personal namespace) and a pattern of group paths,
 * `groups/acme/team-?` (the default of all that match).
 */

import type { Directory } from '../../../../policies/place/directory.ts';
import type { Policy } from '../../../../policies/policy.ts';
import type { LedgerClock } from '../../environment/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import type { LimitsDocument } from '../limit-set.ts';
import type { LimitTable } from '../limit-table.ts';
import type { BreakGlassState } from './break-glass-state.ts';
import type { HistoryPage, HistoryQuery, LogEntry } from './history.ts';
import type { LimitEdit } from './limit-edit.ts';
import type {
  Asker,
  DecideOutcome,
  GrantAsk,
  LimitRequest,
  RequestedEdits,
  RequestOutcome,
  RequestVerdict,
} from './limit-request.ts';
import type { LiveLimits } from './live-limits.ts';
import type { ApplyOutcome, EditAuthor, Preview } from './outcome.ts';

export interface LimitsDeskDeps {
  readonly table: LimitTable;
  /** The one in force: it names the runner classes, and who must never be locked out. */
  readonly policy: Policy;
  /** Limits in force until a set is published; the first edit starts from them. @default nothing */
  readonly packed?: LimitsDocument;
  /** The current groups. Undefined: unknown, and then no user owns a subtree. */
  readonly directory: () => Promise<Directory | undefined>;
  /** Reads counters, for the remaining amounts of break-glasses. */
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  /** A new text of letters and digits, at most 32, small letters for large ones: part of the ids of grants, freezes and requests. */
  readonly newId: () => string;
  /** IANA zone of days that are written about what no limit with a period holds. @default UTC */
  readonly zone?: string;
  /** @default above 50 percent */
  readonly approval?: ApprovalSettings;
}

/** The largest increase by one person alone. */
export interface ApprovalSettings {
  /** Increases by more than this percentage need another user's approval. 0: all of them. */
  readonly abovePercent: number;
}

export interface LimitsDesk {
  /**
   * Returns the published limits. Undefined: none, and the limits packed with the code are in force. @throws
   * {LimitsError}
   */
  live(): Promise<LiveLimits | undefined>;
  /**
   * Returns a set as written; for an undefined `set`, the limits packed with the code. Undefined if it is
   * gone. @throws {LimitsError}
   */
  at(set: string | undefined): Promise<Pick<LiveLimits, 'document' | 'limits'> | undefined>;
  /** Returns the effect of edits of `base`; writes nothing and checks no rights. @throws {LimitsError} */
  preview(edits: readonly LimitEdit[], base: string | undefined): Promise<Preview>;
  /**
   * Publishes edits, all or none. @throws {LimitsError} `limits_unavailable`: they may be live or not; check
   * `live()`.
   */
  apply(edits: readonly LimitEdit[], by: EditAuthor): Promise<ApplyOutcome>;
  /** Returns edits, newest first. They never expire, unlike the sets. @throws {LimitsError} */
  history(asked: HistoryQuery): Promise<HistoryPage>;
  /**
   * Returns one edit with all rows; `rows` undefined: unknown. Undefined: no such edit. @throws
   * {LimitsError}
   */
  edit(edit: number): Promise<LogEntry | undefined>;
  /** Files "ask for more". @throws {LimitsError} */
  request(asked: GrantAsk, by: Asker): Promise<RequestOutcome>;
  /** Requests, newest first: those this role may see. Gone 30 days after they were filed. @throws {LimitsError} */
  requests(asked: Asker): Promise<readonly LimitRequest[]>;
  /** The edits that a request carries; undefined: it carries none, or is gone. @throws {LimitsError} */
  requested(id: string): Promise<RequestedEdits | undefined>;
  /** Approves (and so gives the grant, or makes the edit live) or declines. The requester never decides. @throws {LimitsError} */
  decide(id: string, verdict: RequestVerdict, by: Asker): Promise<DecideOutcome>;
  /** Returns break-glasses with their remaining amounts; newest first. @throws {LimitsError} */
  breakGlasses(): Promise<readonly BreakGlassState[]>;
}
