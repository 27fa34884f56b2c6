import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { LedgerClock, Log } from '../../core/environment/index.ts';
import type { Ledger } from '../../core/ledger/index.ts';
import type { LimitTable } from '../../core/limits/index.ts';
import type { Notifier } from '../../core/notify/message.ts';
import type { AlertRecordStore } from '../../core/thresholds/alert-records.ts';
import type { RollupStore } from '../../core/usage/index.ts';
import type { NoteWriter } from '../note-writer.ts';
import type { ChatNotifier } from '../tell-chat.ts';
import type { CursorStore } from './cursor.ts';

export interface NoticesDeps {
  readonly cursors: CursorStore;
  readonly limitTable: LimitTable;
  readonly policy: Policy;
  /** In force as long as no set of limits is live. */
  readonly packed: LimitSet;
  readonly directory: () => Promise<Directory | undefined>;
  readonly ledger: Pick<Ledger, 'readCounters' | 'readRecords'>;
  readonly usage: Pick<RollupStore, 'readRejections' | 'readUsage'>;
  readonly notify: Notifier;
  /** Where it is noted, for people, what was told of a limit's levels and what nobody took. */
  readonly alerts: Pick<AlertRecordStore, 'add'>;
  /** GitLab's host as keys of the table have it, and lines, the first of which signs links to requests. Absent: they are not signed. */
  readonly approvals?: { readonly instance: string; readonly keys: () => Promise<readonly string[]> };
  /** Absent: nobody is told in chat. */
  readonly tellChat?: ChatNotifier;
  /** Absent: no merge request is told of requests for more. */
  readonly notes?: { readonly gitlabUrl: string; readonly write: NoteWriter };
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  /** IANA zone of the rollup's days. */
  readonly zone: string;
  /** Where browsers reach the console; undefined: messages have no links. */
  readonly consoleUrl: string | undefined;
  readonly log: Log;
}
