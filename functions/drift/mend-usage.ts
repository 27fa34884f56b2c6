import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { JobRecord } from '../core/ledger/index.ts';
import { type CountRecordsDeps, rebuildUsage, type UsageRebuild } from '../core/usage/index.ts';

/** The stream keeps a day, and its reader gives up a little earlier: three nights look at whatever it lost. */
export const MENDED_MS = 3 * DAY_MS;

/** Adds to usage what the stream never delivered of these records; says so only where something was missing. */
export async function mendUsage(
  { records, leftOut }: { readonly records: readonly JobRecord[]; readonly leftOut: number },
  deps: CountRecordsDeps,
): Promise<UsageRebuild> {
  const mended = await rebuildUsage(
    records.map((record) => ({ kind: 'record' as const, record })),
    deps,
  );
  const missing = mended.changed + mended.failed + leftOut;
  if (missing > 0) deps.log.warn('usage mended', { ...mended, leftOut });
  return mended;
}
