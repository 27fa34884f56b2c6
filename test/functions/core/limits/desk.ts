import { createLimitEdits, type LimitEdits } from '../../../../functions/core/limits/create-limit-edits.ts';
import type { EditAuthor, Rights } from '../../../../functions/core/limits/edit-outcomes.ts';
import type { LimitEditsDeps } from '../../../../functions/core/limits/limit-reads.ts';
import type { LimitTable } from '../../../../functions/core/limits/limit-table.ts';
import { aDirectory, aPolicy, NOW_MS } from '../../../policies/documents.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

export const FINANCE: Rights = [{ role: 'finance' }];
export const ADMIN: Rights = [{ role: 'admin' }];
export const ownerOf = (...groups: number[]): Rights => [{ role: 'owner', groups }];

export interface TestDesk {
  readonly limitEdits: LimitEdits;
  readonly table: LimitTable;
  /** Moves its clock. */
  readonly pass: (ms: number) => void;
  /** Finance, confirmed, on what is live. */
  readonly by: (over?: Partial<EditAuthor>) => Promise<EditAuthor>;
}

export function aDesk(over: Partial<LimitEditsDeps> = {}): TestDesk {
  const table = over.table ?? memoryLimitTable();
  let nowMs = NOW_MS;
  let ids = 0;
  const limitEdits = createLimitEdits({
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
    limitEdits,
    table,
    pass: (ms) => {
      nowMs += ms;
    },
    by: async (more = {}) => ({
      actor: 'ann',
      rights: FINANCE,
      why: 'because',
      source: 'test',
      base: (await limitEdits.live())?.pointer.set,
      confirmed: true,
      ...more,
    }),
  };
}

/** Live: 900 a month on acme, 500 on acme/payments, 10 concurrent jobs on acme/payments/cards. */
export async function aLiveDesk(over: Partial<LimitEditsDeps> = {}): Promise<TestDesk> {
  const made = aDesk(over);
  const outcome = await made.limitEdits.apply(
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
