import { createHash } from 'node:crypto';
import type { Directory } from '../../policies/directory.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { type LimitSet, limitsOfGroup, limitsOn } from '../../policies/limits/limits.ts';
import { validAt } from '../../policies/limits/period.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LedgerClock, Log } from '../core/environment/environment.ts';
import type { RestCallDeps } from '../core/gitlab/rest-call.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import { parsedLimits } from '../core/limits/limit-set.ts';
import { type LimitPointer, type LimitTable, packJson, unpackJson } from '../core/limits/limit-table.ts';
import { readLimitSet } from '../core/limits/publish-limits.ts';
import type { StoredRequest } from '../core/limits/requests.ts';
import type { ChatSender } from '../core/notify/chat.ts';
import type { Notifier } from '../core/notify/message.ts';
import { findGroup, type Ownership, type Recipient, recipientKey } from '../core/notify/recipient.ts';
import { itemAt, readItem, timedTable, writeItem } from '../core/store/calls.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import { atRev, type InstanceTable } from '../core/store/operation.ts';
import type { AlertRecordStore } from '../core/thresholds/alert-records.ts';
import type { RollupStore } from '../core/usage/rollup-store.ts';
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
  readonly notes?: Pick<RestCallDeps, 'fetch' | 'random'> & {
    readonly gitlabUrl: string;
    readonly tokenOf: (groupId: number) => Promise<string | undefined>;
  };
  readonly clock: LedgerClock;
  readonly zone: string;
  /** `https://budget.example.com`; undefined: messages have no links. */
  readonly consoleUrl: string | undefined;
  readonly log: Log;
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
  const { policy, zone, packed, limitTable } = deps;
  const read = async (): Promise<NoticeContext> => {
    const [written, directory] = await Promise.all([
      pointer && readLimitSet(pointer.set, limitTable),
      deps.directory(),
    ]);
    const limits = pointer && written ? parsedLimits(written.document, pointer.set, policy) : packed;
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

/* The cursor of the notices: one item, written after the messages were taken. Its field names are those of stored items. */

export interface Cursor {
  readonly edit: number;
  readonly due?: { readonly set: string; readonly atMs: number };
  readonly requests: Readonly<Record<string, RequestCheckpoint>>;
  /** End of each grant with a sent notice; dropped after that end. */
  readonly ending: Readonly<Record<string, number>>;
  readonly forecastDay?: string;
  readonly breakGlasses: Readonly<Record<string, BreakGlassCheckpoint>>;
  /** Job counts that owners know, of today and yesterday, by subject and name; `*` is the instance. */
  readonly tallies: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The last run found rejected jobs. Their lists may lag behind the counts, so the next run reads them again. */
  readonly again?: boolean;
  /** Requests whose note in a merge request is written, or has no place. */
  readonly notes?: Readonly<Record<string, object>>;
  readonly sent: readonly string[];
}

export interface RequestCheckpoint {
  readonly asked: number;
  readonly atMs: number;
  readonly decided: boolean;
}

export interface BreakGlassCheckpoint {
  readonly used: number;
  readonly reviews: number;
  readonly atMs: number;
}

export const START: Cursor = { edit: 0, requests: {}, ending: {}, breakGlasses: {}, tallies: {}, sent: [] };

/** DynamoDB takes 400 KB per item. The oldest hashes are dropped, and their notices repeated. */
const HASHES_MAX = 20_000;
const HASH_CHARACTERS = 12;

export const noticeHash = ({ id, to }: Notice): string =>
  createHash('sha256')
    .update(`${recipientKey(to)} ${id}`)
    .digest('base64url')
    .slice(0, HASH_CHARACTERS);

/** The cursor after a run that sent only some of its notices: the next run finds them again. */
export const advancePartly = (cursor: Cursor, sent: readonly Notice[]): Cursor => ({
  ...cursor,
  sent: [...(cursor.sent ?? []), ...sent.map(noticeHash)].slice(-HASHES_MAX),
});

type CursorStore = ReturnType<typeof dynamoCursorStore>;

const TIMEOUT_MS = 3_000;
const REV = 'rv';
const BYTES = 'by';

/** Every method throws {@link LedgerError} `ledger_unavailable`: a cursor may be written. */
export function dynamoCursorStore({ table, instance }: InstanceTable) {
  const key = ledgerKeys(instance).noticesCursor;
  const timed = timedTable(table, TIMEOUT_MS);
  const what = 'the cursor of the notices';
  return {
    /** Undefined before the first run. */
    read: async () => {
      const item = await readItem(timed, what, key);
      const bytes = item?.[BYTES]?.B;
      if (bytes === undefined) return undefined;
      const cursor = unpackJson(bytes, what) as Cursor;
      return { rev: Number(item?.[REV]?.N), cursor };
    },
    /** Resolves to false if another run wrote first. */
    write: ({ rev, cursor }: { readonly rev: number; readonly cursor: Cursor }): Promise<boolean> => {
      const item = itemAt(key, { [REV]: { N: String(rev) }, [BYTES]: { B: packJson(cursor) } });
      return writeItem(timed, what, item, atRev(REV, rev - 1));
    },
  };
}
