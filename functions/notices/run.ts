import type { Directory } from '../../policies/directory.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { type LimitSet, limitsOfGroup, limitsOn } from '../../policies/limits/limits.ts';
import { validAt } from '../../policies/limits/period.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LedgerClock, Log } from '../core/environment/environment.ts';
import type { RestCallDeps } from '../core/gitlab/rest-call.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import type { LimitPointer, LimitTable } from '../core/limits/limit-table.ts';
import { readDocument } from '../core/limits/plan-edits.ts';
import { readLimitSet } from '../core/limits/publish-limits.ts';
import type { StoredRequest } from '../core/limits/requests.ts';
import type { ChatSender } from '../core/notify/chat.ts';
import type { Notifier } from '../core/notify/message.ts';
import { findGroup, type Ownership, type Recipient } from '../core/notify/recipient.ts';
import type { AlertRecordStore } from '../core/thresholds/alert-records.ts';
import type { RollupStore } from '../core/usage/rollup-store.ts';
import type { Cursor, CursorStore } from './cursor.ts';
import type { Notice } from './notice.ts';

export interface NoticesDeps {
  readonly cursors: CursorStore;
  readonly limitTable: LimitTable;
  readonly policy: Policy;
  readonly packed: LimitSet;
  readonly directory: () => Promise<Directory | undefined>;
  readonly ledger: Pick<Ledger, 'readCounters' | 'readRecords'>;
  readonly usage: Pick<RollupStore, 'readRejections' | 'readUsage'>;
  readonly notify: Notifier;
  readonly alerts: AlertRecordStore;
  /** The first key signs links to requests. @default unsigned links */
  readonly approvals?: { readonly instance: string; readonly keys: () => Promise<readonly string[]> };
  /** Lines as `readChatChannels` reads them. @default no chat */
  readonly chat?: { readonly lines: () => Promise<readonly string[]>; readonly sender: ChatSender };
  readonly notes?: NotesDeps;
  readonly clock: LedgerClock;
  readonly zone: string;
  /** `https://budget.example.com`; undefined: messages have no links. */
  readonly consoleUrl: string | undefined;
  readonly log: Log;
}

interface NotesDeps extends Pick<RestCallDeps, 'fetch' | 'random'> {
  readonly gitlabUrl: string;
  readonly tokenOf: (groupId: number) => Promise<string | undefined>;
}

export interface NoticeContext extends Ownership {
  readonly policy: Policy;
  readonly zone: string;
  readonly nowMs: number;
}

export interface Run {
  readonly deps: NoticesDeps;
  readonly cursor: Cursor;
  /** On the first run earlier events are history, but pending requests are not. */
  readonly isFirst: boolean;
  readonly pointer: LimitPointer | undefined;
  readonly requests: readonly StoredRequest[];
  readonly nowMs: number;
  /** Reads limits and groups at the first call: a run without events reads neither. @throws {LimitsError | DirectoryError} */
  readonly context: () => Promise<NoticeContext>;
  /** Path of the page on which the recipient decides a request. */
  readonly decisionPage: (request: string, to: Recipient) => string;
}

export interface Findings {
  readonly notices: readonly Notice[];
  readonly next: Partial<Cursor>;
}

export function contextReader(
  pointer: LimitPointer | undefined,
  deps: NoticesDeps,
  nowMs: number,
): Run['context'] {
  const { policy, zone } = deps;
  const readLimits = async (set: string): Promise<LimitSet> =>
    readDocument((await readLimitSet(set, deps.limitTable)).document, set, policy).limits;
  const read = async (): Promise<NoticeContext> => {
    const [limits, directory] = await Promise.all([
      pointer === undefined ? deps.packed : readLimits(pointer.set),
      deps.directory(),
    ]);
    return { limits, directory, policy, zone, nowMs };
  };
  let context: Promise<NoticeContext> | undefined;
  return () => {
    context ??= read();
    return context;
  };
}

export function* limitsBySubject({
  limits,
  directory,
  nowMs,
}: NoticeContext): Generator<readonly [string, readonly Limit[]]> {
  for (const subject of limits.bySubject.keys()) {
    const group = findGroup(subject, directory);
    yield [
      subject,
      group === undefined ? validAt(limitsOn(limits, subject), nowMs) : limitsOfGroup(limits, group, nowMs),
    ];
  }
  if (limits.personalDefault.length + (limits.groupDefaults?.all.length ?? 0) === 0) return;
  for (const group of directory?.groupById.values() ?? []) {
    const subject = `group/${group.id}`;
    if (limits.bySubject.has(subject)) continue;
    const inherited = limitsOfGroup(limits, group, nowMs);
    if (inherited.length > 0) yield [subject, inherited];
  }
}
