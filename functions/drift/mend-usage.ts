import type { JobRecord } from '../core/ledger/index.ts';
import { type CountRecordsDeps, rebuildUsage, type UsageRebuild } from '../core/usage/index.ts';

/** Adds to usage what the stream never delivered of these records; says so only where something was missing. */
export async function mendUsage(
  records: readonly JobRecord[],
  deps: CountRecordsDeps,
): Promise<UsageRebuild> {
  const mended = await rebuildUsage(
    records.map((record) => ({ kind: 'record' as const, record })),
    deps,
  );
  if (mended.changed + mended.failed > 0) deps.log.warn('usage mended', { ...mended });
  return mended;
}
