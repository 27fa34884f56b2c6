import { createLimitsDesk, type LimitsDesk } from '../../../../functions/core/limits/create-limits-desk.ts';
import type { EditAuthor, Rights } from '../../../../functions/core/limits/edit-outcomes.ts';
import type { LimitsDeskDeps } from '../../../../functions/core/limits/limit-reads.ts';
import type { LimitTable } from '../../../../functions/core/limits/limit-table.ts';
import { aDirectory, aPolicy, NOW_MS } from '../../../policies/documents.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

export const FINANCE: Rights = [{ role: 'finance' }];
export const ADMIN: Rights = [{ role: 'admin' }];
export const ownerOf = (...groups: number[]): Rights => [{ role: 'owner', groups }];

export interface TestDesk {
  readonly desk: LimitsDesk;
  readonly table: LimitTable;
  /** Moves its clock. */
  readonly pass: (ms: number) => void;
  /** Finance, confirmed, on what is live. */
  readonly by: (over?: Partial<EditAuthor>) => Promise<EditAuthor>;
}

export function aDesk(over: Partial<LimitsDeskDeps> = {}): TestDesk {
  const table = over.table ?? memoryLimitTable();
  let nowMs = NOW_MS;
  let ids = 0;
  const desk = createLimitsDesk({
    table,
    policy: aPolicy(),
    directory: async () => aDirectory,
    ledger: { readCounters: async () => [] },
    clock: { nowMs: () => nowMs },
    newId: () => {
      ids += 1;
      return `Id${ids}`;
    },
    ...over,
  });
  return {
    desk,
    table,
    pass: (ms) => {
      nowMs += ms;
    },
    by: async (more = {}) => ({
      actor: 'ann',
      rights: FINANCE,
      why: 'because',
      source: 'test',
      base: (await desk.live())?.pointer.set,
      confirmed: true,
      ...more,
    }),
  };
}

/** Live: 900 a month on acme, 500 on acme/payments, 10 jobs at once on acme/payments/cards. */
export async function aLiveDesk(over: Partial<LimitsDeskDeps> = {}): Promise<TestDesk> {
  const made = aDesk(over);
  const outcome = await made.desk.apply(
    [
      { kind: 'set', subject: 'group/100', unit: 'money', amount: 900, per: 'month' },
      {
        kind: 'set',
        subject: 'group/101',
        unit: 'money',
        amount: 500,
        per: 'month',
        owner: 'payments-leads',
      },
      { kind: 'set', subject: 'group/104', unit: 'jobs', amount: 10 },
    ],
    await made.by(),
  );
  if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  return made;
}
