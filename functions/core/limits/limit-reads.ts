import type { Directory } from '../../../policies/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { LedgerClock } from '../environment/environment.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LimitEdit } from './edit-model.ts';
import type { LiveLimits } from './edit-outcomes.ts';
import type { LimitsDocument } from './limit-set.ts';
import { ifReadable, type LimitTable, WITHIN } from './limit-table.ts';
import { type ReadLimitSet, readDocument } from './plan-edits.ts';
import { readLimitSet } from './publish-limits.ts';
import { NO_SET } from './subject-text.ts';

export interface LimitEditsDeps {
  readonly table: LimitTable;
  readonly policy: Policy;
  /** Limits in force until a set is published; the first edit starts from them. @default nothing */
  readonly packed?: LimitsDocument;
  readonly directory: () => Promise<Directory | undefined>;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  /** A new text of letters and digits, at most 32: part of the ids of grants, freezes and requests, in small letters. */
  readonly newId: () => string;
  /** IANA zone of the days of freezes and break-glasses. @default UTC */
  readonly zone?: string;
  readonly approval?: ApprovalSettings;
}

export interface ApprovalSettings {
  readonly abovePercent: number;
}

export class LimitReads {
  readonly deps: LimitEditsDeps;
  /** A set never changes once it is written, and pages ask for the live one again and again. */
  #last: LiveLimits | undefined;
  #packed: ReadLimitSet | undefined;

  constructor(deps: LimitEditsDeps) {
    this.deps = deps;
  }

  async live(): Promise<LiveLimits | undefined> {
    const { table, policy } = this.deps;
    const pointer = await table.getPointer(WITHIN);
    if (pointer === undefined) return undefined;
    if (this.#last?.pointer.set === pointer.set) return this.#last;
    const { change, document } = await readLimitSet(pointer.set, table);
    this.#last = { pointer, change, ...readDocument(document, pointer.set, policy) };
    return this.#last;
  }

  /** The published set, the limits in force (those packed with the code if there is none), and the groups. */
  async inForce() {
    const [live, directory] = await Promise.all([this.live(), this.deps.directory()]);
    const read = live ?? (await this.base(undefined));
    const nowMs = this.deps.clock.nowMs();
    return { live, directory, read, nowMs, context: { limits: read.limits, directory, nowMs } };
  }

  /** Reads the base of edits. @throws {LimitsError} `limits_unreadable`: it is gone, or never existed. */
  async base(set: string | undefined): Promise<ReadLimitSet> {
    const { table, policy, packed = {} } = this.deps;
    if (set === undefined) {
      this.#packed ??= readDocument(packed, 'packed', policy);
      return this.#packed;
    }
    if (this.#last?.pointer.set === set) return this.#last;
    return readDocument((await readLimitSet(set, table)).document, set, policy);
  }

  baseIfThere(set: string | undefined): Promise<ReadLimitSet | undefined> {
    return ifReadable(this.base(set));
  }
}

interface LimitEditReads {
  readonly live: LimitReads['live'];
  readonly at: LimitReads['baseIfThere'];
}

/** Returns the edits that take the limits back to the document before the last edit, or why there are none. */
export async function lastEdit(edit: number, limitEdits: LimitEditReads) {
  const live = await limitEdits.live();
  if (live === undefined) return { outcome: 'nothing_live' as const };
  if (live.pointer.edit !== edit) return { outcome: 'not_last' as const, live };
  const before = await limitEdits.at(live.change.base);
  if (before === undefined) return { outcome: 'gone' as const };
  const edits: readonly LimitEdit[] = [{ kind: 'replace', document: before.document }];
  return { outcome: 'can_undo' as const, edits, base: live.pointer.set, why: live.change.why };
}

/** The limits in force, for a limits file. @throws {LimitsError} */
export async function exportedLimits(limitEdits: LimitEditReads) {
  const live = await limitEdits.live();
  const { document, limits } = live ?? (await limitEdits.at(undefined)) ?? {};
  if (document === undefined || limits === undefined) throw new Error('no limits are packed with the code');
  // Without a set, these are the limits packed with the deployment. Edit 0: none was ever made.
  return { document, limits, set: live?.pointer.set, edit: live?.pointer.edit ?? 0 };
}

/** The set the rows of a file are edits of: the one they name, else the one in force. */
export const baseOfFile = (version: string | undefined, inForce: string | undefined): string | undefined =>
  version === NO_SET ? undefined : (version ?? inForce);
