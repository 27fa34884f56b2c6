/** Files a document for approval by another person. */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../../functions/core/environment/index.ts';
import {
  type ApplyOutcome,
  createLimitsDesk,
  type EditAuthor,
  type LimitEdit,
  type LimitTable,
} from '../../../functions/core/limits/index.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';

interface AskWith {
  readonly table: LimitTable;
  readonly policy: Policy;
  readonly directory: Directory;
  /** Unix ms. */
  readonly nowMs: () => number;
}

/** Undefined: one person alone may publish it, and nothing was written. @throws {LimitsError} */
export async function askSomebody(
  document: unknown,
  by: Omit<EditAuthor, 'rights'>,
  { table, policy, directory, nowMs }: AskWith,
): Promise<ApplyOutcome | undefined> {
  const desk = createLimitsDesk({
    table,
    policy,
    directory: async () => directory,
    ledger: { readCounters: async () => [] },
    clock: { ...systemClock, nowMs },
    newId: () => randomBytes(5).toString('hex'),
  });
  const edits: readonly LimitEdit[] = [{ kind: 'replace', document }];
  const preview = await desk.preview(edits, by.base);
  if (preview.outcome !== 'valid' || preview.stale || preview.needsApproval.length === 0) return undefined;
  return desk.apply(edits, { ...by, rights: [{ role: 'admin' }] });
}
