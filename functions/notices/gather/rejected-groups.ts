/** Which groups had jobs rejected lately. Hints for whose counts to read: the lists are bounded, the counts are exact. */
import type { Directory } from '../../../policies/place/directory.ts';
import type { Ledger } from '../../core/ledger/index.ts';
import { findOwnRecipient, groupsAround, type Ownership } from '../../core/notify/recipient.ts';
import { type LatestRejections, REJECTIONS_MAX, type RollupStore } from '../../core/usage/index.ts';
import { inPieces } from './tallies.ts';

/** Lists read in one run: a hundred batches. */
const LISTS_MAX = 10_000;

interface RejectedGroupsDeps {
  readonly usage: Pick<RollupStore, 'readRejections'>;
  readonly ledger: Pick<Ledger, 'readRecords'>;
  /** Unix ms: the beginning of the days that are told of. */
  readonly sinceMs: number;
}

/** Closest first; each with all above it. */
type Chain = readonly string[];

/**
 * The groups to tell of: those with rejected jobs at or below them whose limits name an owner, and of the other jobs the
 * top-level groups.
 */
export async function rejectedGroups(
  ownership: Ownership,
  deps: RejectedGroupsDeps,
): Promise<readonly string[]> {
  const chains = await rejectedChains(ownership.directory, deps);
  const groups = new Set<string>();
  for (const chain of chains) {
    const owned = chain.filter((group) => findOwnRecipient(group, ownership) !== undefined);
    const root = chain.at(-1);
    if (owned.length === 0 && root !== undefined) groups.add(root);
    for (const group of owned) groups.add(group);
  }
  return [...groups];
}

async function rejectedChains(
  directory: Directory | undefined,
  { usage, ledger, sinceMs }: RejectedGroupsDeps,
): Promise<readonly Chain[]> {
  const isLate = ({ atMs }: LatestRejections['jobs'][number]): boolean => atMs >= sinceMs;
  const [all] = await usage.readRejections(['instance']);
  const jobs = (all?.jobs ?? []).filter(isLate);
  const records = jobs.length === 0 ? [] : await ledger.readRecords(jobs.map(({ jobId }) => jobId));
  const direct = records.flatMap((record) => {
    const group = record?.facts.groupId ?? record?.facts.rootId;
    return group === undefined ? [] : [groupsAround(`group/${group}`, directory)];
  });
  if (jobs.length < REJECTIONS_MAX || directory === undefined) return direct;
  // More than the list holds: down the tree, where there were any.
  const activeGroups: string[] = [];
  let level: readonly string[] = childrenOf(directory, undefined);
  for (let read = 0; level.length > 0 && read < LISTS_MAX; read += level.length) {
    const lists = await inPieces(level.slice(0, LISTS_MAX - read), (some) => usage.readRejections(some));
    const active = lists.filter((list) => list.jobs.some(isLate)).map(({ subject }) => subject);
    activeGroups.push(...active);
    level = active.flatMap((group) => childrenOf(directory, Number(group.slice('group/'.length))));
  }
  const chains = activeGroups.map((group) => groupsAround(group, directory));
  // The jobs of a group with such groups below it are theirs, but for those that the list of the instance still shows.
  const above = new Set(chains.flatMap((chain) => chain.slice(1)));
  return [...direct, ...chains.filter(([group = '']) => !above.has(group))];
}

function childrenOf(directory: Directory, parent: number | undefined): readonly string[] {
  const children: string[] = [];
  for (const group of directory.groupById.values())
    if (group.parentId === parent) children.push(`group/${group.id}`);
  return children;
}
