import { encodeEstimates } from '../../../../functions/core/estimates/index.ts';
import type { Consistency } from '../../../../functions/core/ledger/index.ts';
import { type Item, itemBytes, PK, SK, TTL_ATTRIBUTE } from '../../../../functions/core/store/index.ts';
import {
  encodeContribution,
  encodeRejections,
  encodeTop,
  type RollupKeys,
  type RollupStore,
  type UsageKey,
  type UsageTally,
  usageExpiresAtSeconds,
} from '../../../../functions/core/usage/index.ts';

interface RollupCounts {
  /** Write units by formula: in transactions every item twice, per started KB. */
  contributions: number;
  usage: number;
  estimates: number;
  top: number;
  /** Read units: per item and started 4 KB, half of them where the read is eventual. */
  reads: number;
  /** Size of the last item of each kind. */
  contributionBytes: number;
  /** From the job's end until garbage collection may take it. */
  contributionExpiresAtSeconds: number;
  estimatesBytes: number;
}

/** The same store, counted. */
export function countingRollupStore(
  store: RollupStore,
  keys: RollupKeys,
): RollupStore & { readonly counts: RollupCounts } {
  const counts: RollupCounts = {
    contributions: 0,
    usage: 0,
    estimates: 0,
    top: 0,
    reads: 0,
    contributionBytes: 0,
    contributionExpiresAtSeconds: 0,
    estimatesBytes: 0,
  };
  return {
    counts,
    async readContributions(jobIds, consistency) {
      counts.reads += jobIds.length * shareOf(consistency);
      return store.readContributions(jobIds, consistency);
    },
    async commit(writes) {
      for (const { after, expiresAtSeconds } of writes.contributions) {
        const item = encodeContribution(keys.contribution(after.jobId), after, expiresAtSeconds);
        counts.contributions += 2 * writeUnitsOf(item);
        counts.contributionBytes = itemBytes(item);
        counts.contributionExpiresAtSeconds = expiresAtSeconds ?? counts.contributionExpiresAtSeconds;
      }
      const outcome = await store.commit(writes);
      // Charged by the size that the item has afterwards.
      const sums = await store.readUsage(writes.usage.map(({ key }) => key));
      for (const [index, { key }] of writes.usage.entries())
        counts.usage += 2 * writeUnitsOf(usageItem(key, sums[index] ?? new Map(), keys));
      return outcome;
    },
    async readUsage(wanted) {
      counts.reads += wanted.length;
      return store.readUsage(wanted);
    },
    async readEstimates(projectIds, consistency) {
      const stored = await store.readEstimates(projectIds, consistency);
      for (const [index, projectId] of projectIds.entries()) {
        const estimates = stored[index];
        if (estimates !== undefined)
          counts.reads +=
            readUnitsOf(itemBytes(encodeEstimates(keys.estimates(projectId), estimates, 0))) *
            shareOf(consistency);
      }
      return stored;
    },
    async writeEstimates(projectId, estimates, nowMs) {
      const item = encodeEstimates(keys.estimates(projectId), estimates, nowMs);
      counts.estimates += writeUnitsOf(item);
      counts.estimatesBytes = itemBytes(item);
      return store.writeEstimates(projectId, estimates, nowMs);
    },
    async readTop(wanted, consistency) {
      counts.reads += wanted.length * shareOf(consistency);
      return store.readTop(wanted, consistency);
    },
    async writeTop(top) {
      counts.top += writeUnitsOf(encodeTop(keys.top(top.key), top));
      return store.writeTop(top);
    },
    async readRejections(subjects, consistency) {
      counts.reads += subjects.length * shareOf(consistency);
      return store.readRejections(subjects, consistency);
    },
    async writeRejections(latest) {
      counts.top += writeUnitsOf(encodeRejections(keys.rejections(latest.subject), latest));
      return store.writeRejections(latest);
    },
  };
}

const shareOf = (consistency: Consistency = 'consistent'): number => (consistency === 'consistent' ? 1 : 0.5);

export const readUnitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / 4096));

export const writeUnitsOf = (item: Item): number => Math.max(1, Math.ceil(itemBytes(item) / 1024));

function usageItem(key: UsageKey, tally: UsageTally, keys: RollupKeys): Item {
  const { pk, sk } = keys.usage(key);
  return {
    [PK]: { S: pk },
    [SK]: { S: sk },
    [TTL_ATTRIBUTE]: { N: String(usageExpiresAtSeconds(key)) },
    ...Object.fromEntries([...tally].map(([name, count]) => [name, { N: String(count) }])),
  };
}
