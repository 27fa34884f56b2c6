import { silentLog } from '../../../functions/core/environment/machine.ts';
import type { LimitEdit } from '../../../functions/core/limits/desk/limit-edit.ts';
import { MemoryNotifier } from '../../../functions/core/notify/message.ts';
import type { Cursor, CursorStore, StoredCursor } from '../../../functions/notices/gather/cursor.ts';
import type { NoticesDeps } from '../../../functions/notices/gather/notices-deps.ts';
import { sendNotices } from '../../../functions/notices/send-notices.ts';
import { consoleHouse } from '../console/house.ts';

export const CONSOLE_URL = 'https://budget.example.com';

/** A cursor in memory, written out and read in as a table does. */
export function memoryCursors() {
  let stored: string | undefined;
  const store: CursorStore & { now(): Cursor | undefined } = {
    read: async () => (stored === undefined ? undefined : (JSON.parse(stored) as StoredCursor)),
    write: async (next) => {
      const rev = stored === undefined ? 0 : (JSON.parse(stored) as StoredCursor).rev;
      if (next.rev !== rev + 1) return false;
      stored = JSON.stringify(next);
      return true;
    },
    now: () => (stored === undefined ? undefined : (JSON.parse(stored) as StoredCursor).cursor),
  };
  return store;
}

/** One notice as a program reads it. */
export interface ReadNotice {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly says: string;
  readonly link?: string;
  readonly jobs?: number;
}
export interface ReadMessage {
  readonly owner: string;
  readonly root?: number;
  readonly notices: readonly ReadNotice[];
  readonly more?: number;
}
export const readMessage = ({ json }: { readonly json: string }): ReadMessage =>
  JSON.parse(json) as ReadMessage;

/** 900 a month on acme (acme-leads), 500 on acme/payments (payments-leads), beta's 100 belong to nobody by name. */
export const OWNED: readonly LimitEdit[] = [
  { kind: 'set', subject: 'group/100', unit: 'money', amount: 900, per: 'month', owner: 'acme-leads' },
  {
    kind: 'set',
    subject: 'group/101',
    unit: 'money',
    amount: 500,
    per: 'month',
    owner: 'payments-leads',
    contact: 'payments@example.com',
  },
  { kind: 'set', subject: 'group/200', unit: 'money', amount: 100, per: 'month' },
];

export interface NoticesHouseOptions extends Partial<NoticesDeps> {
  /** Live before anybody is told anything. */
  readonly limits?: readonly LimitEdit[];
  /** Parts of the policy document. */
  readonly rules?: object;
}

/** The real desk, ledger and rollup in memory, and a run of the notices over them. */
export async function noticesHouse({ limits = OWNED, rules, ...over }: NoticesHouseOptions = {}) {
  // One person may do what these tests do: nobody is told of requests by the way.
  const approval = { abovePercent: 1_000_000_000 };
  const house = consoleHouse({ approval, ...(rules !== undefined && { policy: rules }) });
  const notify = over.notify instanceof MemoryNotifier ? over.notify : new MemoryNotifier();
  const cursors = memoryCursors();
  const deps: NoticesDeps = {
    cursors,
    limitTable: house.deps.limitTable,
    policy: house.policy,
    packed: house.deps.packedLimits,
    directory: async () => house.directory,
    ledger: house.ledger,
    usage: house.usage,
    alerts: house.alerts,
    notify,
    clock: house.clock,
    zone: 'UTC',
    consoleUrl: CONSOLE_URL,
    log: silentLog,
    ...over,
  };
  const runWith = (other: NoticesDeps) => sendNotices(other);
  const run = () => sendNotices(deps);
  if (limits.length > 0) await house.apply(limits);
  await run();
  const start = notify.sent.length;
  /** All messages since the house was built. */
  const messages = (): readonly ReadMessage[] => notify.sent.slice(start).map(readMessage);
  /** `payments-leads limit-loosened group/101`. */
  const told = (): readonly string[] =>
    messages().flatMap(({ owner, notices }) =>
      notices.map(({ kind, subject }) => `${owner} ${kind} ${subject}`),
    );
  /** What was told, and forgets it. */
  const news = async (): Promise<readonly string[]> => {
    const before = notify.sent.length;
    await run();
    return notify.sent
      .slice(before)
      .map(readMessage)
      .flatMap(({ owner, notices }) => notices.map(({ kind, subject }) => `${owner} ${kind} ${subject}`));
  };
  const edit = async (
    edits: readonly LimitEdit[],
    by: { actor?: string; why?: string } = {},
  ): Promise<void> => {
    const base = (await house.desk.live())?.pointer.set;
    const outcome = await house.desk.apply(edits, {
      actor: by.actor ?? 'fritz',
      rights: [{ role: 'admin' }],
      why: by.why ?? 'quarterly review',
      source: 'page',
      base,
      confirmed: true,
    });
    if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  };
  return { ...house, deps, notify, cursors, run, runWith, messages, told, news, edit };
}
