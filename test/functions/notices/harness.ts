import { silentLog } from '../../../functions/core/environment/environment.ts';
import type { LimitEdit } from '../../../functions/core/limits/edit-model.ts';
import { MemoryNotifier, type Notifier, NotifyError } from '../../../functions/core/notify/message.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { dynamoCursorStore, type NoticesDeps } from '../../../functions/notices/run.ts';
import { sendNotices } from '../../../functions/notices/send-notices.ts';
import { consoleHouse } from '../console/house.ts';

export const CONSOLE_URL = 'https://budget.example.com';
export const DAY_MS = 86_400_000;
const DANA = { actor: 'dana', rights: [{ role: 'viewer', groups: [101, 200] }] } as const;
export const FRITZ = { actor: 'fritz', rights: [{ role: 'finance' }] } as const;

/** A notice as a program reads it. */
interface ReadNotice {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly says: string;
  readonly jobs?: number;
}
interface ReadMessage {
  readonly owner: string;
  readonly notices: readonly ReadNotice[];
  readonly more?: number;
}
export const readMessage = ({ json }: { readonly json: string }): ReadMessage =>
  JSON.parse(json) as ReadMessage;
/** `payments-leads limit-loosened group/101` */
const summary = (message: { readonly json: string }): readonly string[] => {
  const { owner, notices } = readMessage(message);
  return notices.map(({ kind, subject }) => `${owner} ${kind} ${subject}`);
};

/** 900 a month on acme (acme-leads), 500 on acme/payments (payments-leads), 100 on beta without an owner. */
export const OWNED: readonly LimitEdit[] = [
  { kind: 'set', subject: 'group/100', unit: 'money', amount: 900, per: 'month', owner: 'acme-leads' },
  {
    ...{ kind: 'set', subject: 'group/101', unit: 'money', amount: 500, per: 'month' },
    ...{ owner: 'payments-leads', contact: 'payments@example.com' },
  },
  { kind: 'set', subject: 'group/200', unit: 'money', amount: 100, per: 'month' },
];

interface HarnessOptions extends Partial<NoticesDeps> {
  /** Live before the first run. */
  readonly limits?: readonly LimitEdit[];
  /** Parts of the policy document. */
  readonly rules?: object;
}

/** Runs the notices over the real limit edits, ledger and rollup in memory. */
export async function noticesHarness({ limits = OWNED, rules, ...over }: HarnessOptions = {}) {
  // One person may make all edits of these tests, so no edit asks for approval.
  const approval = { abovePercent: 1_000_000_000 };
  const house = consoleHouse({ approval, ...(rules !== undefined && { policy: rules }) });
  const notify = new MemoryNotifier();
  const cursors = dynamoCursorStore({ table: new MemoryTable(), instance: 'gitlab.example.com' });
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
  const runWith = (other: Partial<NoticesDeps>) => sendNotices({ ...deps, ...other });
  const run = () => sendNotices(deps);
  /** Runs over a topic that takes this many messages, then none. */
  const runWithTopic = (takes: number) => {
    let left = takes;
    const send: Notifier['send'] = async (message) => {
      if (left === 0) throw new NotifyError('notify_unavailable', 'no');
      left -= 1;
      await notify.send(message);
    };
    return runWith({ notify: { send } });
  };
  if (limits.length > 0) await house.apply(limits);
  await run();
  const start = notify.sent.length;
  /** All notices since the harness was built. */
  const sent = (): readonly string[] => notify.sent.slice(start).flatMap(summary);
  /** The notices of one more run. */
  const news = async (): Promise<readonly string[]> => {
    const before = notify.sent.length;
    await run();
    return notify.sent.slice(before).flatMap(summary);
  };
  const edit = async (
    edits: readonly LimitEdit[],
    by: { actor?: string; why?: string } = {},
  ): Promise<void> => {
    const outcome = await house.limitEdits.apply(edits, {
      actor: by.actor ?? 'fritz',
      rights: [{ role: 'admin' }],
      why: by.why ?? 'quarterly review',
      source: 'page',
      base: (await house.limitEdits.live())?.pointer.set,
      confirmed: true,
    });
    if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  };
  /** Asks for more for acme/payments. */
  const request = async (over: object = {}, by: Parameters<typeof house.limitEdits.request>[1] = DANA) => {
    const asked = await house.limitEdits.request(
      {
        ...{ subject: 'group/101', limit: 'money-month', amount: 200, reason: 'load test' },
        ...{ from: '2026-11-21', until: '2026-11-30' },
        ...over,
      },
      by,
    );
    if (asked.outcome !== 'filed') throw new Error(JSON.stringify(asked));
    return asked.request.id;
  };
  const lastText = (): string => notify.sent.at(-1)?.text ?? '';
  return {
    ...{ ...house, deps, notify, cursors, run, runWith, runWithTopic },
    ...{ sent, news, edit, request, lastText },
  };
}
