/**
 * What the command line, CSV and SSM imports, the API and the console do with limits. One way in for all of them: every
 * edit is checked as a whole, against the rights of whoever makes it, and becomes live by one flip or not at all.
 *
 * Subjects are texts: `instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, and in edits and
 * rows two more: `personal` (every personal namespace) and a pattern of group paths, `groups/acme/team-?` (the default of all that match).
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
  /** What is in force as long as no set is live, and so what the first edit edits. @default nothing */
  readonly packed?: LimitsDocument;
  /** The groups as they are now; undefined: not known, and then nobody owns a subtree. */
  readonly directory: () => Promise<Directory | undefined>;
  /** How counters stand: for what is left of a break-glass. */
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  /** A new text of letters and digits, at most 32, small letters for large ones: part of the ids of grants, freezes and requests. */
  readonly newId: () => string;
  /** IANA zone of days that are written about what no limit with a period holds. @default UTC */
  readonly zone?: string;
  /** @default above 50 percent */
  readonly approval?: ApprovalSettings;
}

/** How much more one person alone may not give. */
export interface ApprovalSettings {
  /** What makes a limit go further by more than this many percent needs somebody else's approval. 0: all of it. */
  readonly abovePercent: number;
}

export interface LimitsDesk {
  /** What is live now; undefined: no set ever was, and the limits packed with the code are in force. @throws {LimitsError} */
  live(): Promise<LiveLimits | undefined>;
  /**
   * A set as it was written: that of a file somebody exported, or for an undefined `set` what is packed with the code.
   * Returns undefined if it is gone. @throws {LimitsError}
   */
  at(set: string | undefined): Promise<Pick<LiveLimits, 'document' | 'limits'> | undefined>;
  /** What edits of `base` would do; writes nothing and asks no rights. @throws {LimitsError} */
  preview(edits: readonly LimitEdit[], base: string | undefined): Promise<Preview>;
  /** Makes edits live, all or none. @throws {LimitsError} `limits_unavailable`: they may be live or not; `live()` tells. */
  apply(edits: readonly LimitEdit[], by: EditAuthor): Promise<ApplyOutcome>;
  /** What was changed, newest first. Never expires, unlike the sets themselves. @throws {LimitsError} */
  history(asked: HistoryQuery): Promise<HistoryPage>;
  /** One edit with every row of it; `rows` undefined: they could not be told. Undefined: there is no such edit. @throws {LimitsError} */
  edit(edit: number): Promise<LogEntry | undefined>;
  /** Files "ask for more". @throws {LimitsError} */
  request(asked: GrantAsk, by: Asker): Promise<RequestOutcome>;
  /** Requests, newest first: those this role may see. Gone 30 days after they were filed. @throws {LimitsError} */
  requests(asked: Asker): Promise<readonly LimitRequest[]>;
  /** The edits that a request carries; undefined: it carries none, or is gone. @throws {LimitsError} */
  requested(id: string): Promise<RequestedEdits | undefined>;
  /** Approves (and so gives the grant, or makes the edit live) or declines. The requester never decides. @throws {LimitsError} */
  decide(id: string, verdict: RequestVerdict, by: Asker): Promise<DecideOutcome>;
  /** Who was let in by breaking glass, with what is left of it; newest first. @throws {LimitsError} */
  breakGlasses(): Promise<readonly BreakGlassState[]>;
}
