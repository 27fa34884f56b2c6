/**
 * The single way to edit limits, for the command line, CSV and SSM imports, the API and the console. Every
 * edit is checked as a whole against its author's rights, and is published completely or not at all.
 *
 * Subjects are texts: `instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, and
 * in edits and rows two more: `personal` (every personal namespace) and a pattern of group paths,
 * `groups/acme/team-?` (the default of all that match).
 */

import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { LedgerClock } from '../environment/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type {
  ApplyOutcome,
  Asker,
  BreakGlassState,
  DecideOutcome,
  EditAuthor,
  GrantAsk,
  HistoryPage,
  HistoryQuery,
  LimitEdit,
  LimitRequest,
  LiveLimits,
  LogEntry,
  Preview,
  RequestedEdits,
  RequestOutcome,
  RequestVerdict,
} from './edit-model.ts';
import type { LimitsDocument } from './limit-set.ts';
import { type LimitPointer, LimitsError, type LimitTable } from './limit-table.ts';
import { type ReadLimitSet, readDocument } from './plan-edits.ts';
import { readLimitSet } from './publish-limits.ts';

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

/** Reads for an edit: the published set, the base set, the groups. */

export const TIMEOUT_MS = 5_000;

export class DeskReader {
  readonly #deps: LimitsDeskDeps;
  /** A set never changes once it is written, and pages ask for the live one again and again. */
  #last: LiveLimits | undefined;
  #packed: ReadLimitSet | undefined;

  constructor(deps: LimitsDeskDeps) {
    this.#deps = deps;
  }

  async live(): Promise<LiveLimits | undefined> {
    const pointer = await this.pointer();
    if (pointer === undefined) return undefined;
    if (this.#last?.pointer.set === pointer.set) return this.#last;
    const { change, document } = await readLimitSet(pointer.set, this.#deps.table);
    this.#last = { pointer, change, ...readDocument(document, pointer.set, this.#deps.policy) };
    return this.#last;
  }

  pointer(): Promise<LimitPointer | undefined> {
    return this.#deps.table.getPointer({ timeoutMs: TIMEOUT_MS });
  }

  directory(): Promise<Directory | undefined> {
    return this.#deps.directory();
  }

  /** Reads the base of edits. @throws {LimitsError} `limits_unreadable`: it is gone, or never existed. */
  async base(set: string | undefined): Promise<ReadLimitSet> {
    const { table, policy, packed = {} } = this.#deps;
    if (set === undefined) {
      this.#packed ??= readDocument(packed, 'packed', policy);
      return this.#packed;
    }
    if (this.#last?.pointer.set === set) return this.#last;
    return readDocument((await readLimitSet(set, table)).document, set, policy);
  }

  /** The same for optional information: undefined if it cannot be read any more. */
  async baseIfThere(set: string | undefined): Promise<ReadLimitSet | undefined> {
    try {
      return await this.base(set);
    } catch (error) {
      if (error instanceof LimitsError && error.code === 'limits_unreadable') return undefined;
      throw error;
    }
  }
}

/** Stands for the set where none is live yet: in `If-Match`, and in the column `version` of a file. */
export const NO_SET = 'none';

/** The content of a limits file, and its base. */
interface ExportedLimits {
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
  /** Undefined: none is live, and these are the limits packed with the deployment. */
  readonly set: string | undefined;
  /** 0: none was ever made. */
  readonly edit: number;
}

/** The limits in force. @throws {LimitsError} */
export async function exportedLimits(desk: Pick<LimitsDesk, 'live' | 'at'>): Promise<ExportedLimits> {
  const live = await desk.live();
  if (live !== undefined) {
    const { document, limits, pointer } = live;
    return { document, limits, set: pointer.set, edit: pointer.edit };
  }
  const packed = await desk.at(undefined);
  if (packed === undefined) throw new Error('the desk has no limits packed with the code');
  return { document: packed.document, limits: packed.limits, set: undefined, edit: 0 };
}

/** The set the rows of a file are edits of: the one they name, else the one in force. */
export const baseOfFile = (version: string | undefined, inForce: string | undefined): string | undefined =>
  version === NO_SET ? undefined : (version ?? inForce);
