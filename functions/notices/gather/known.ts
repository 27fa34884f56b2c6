/** What notices are told with: limits and groups as they are now. Read only where something happened. */
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { type LimitPointer, type LimitTable, readDocument, readLimitSet } from '../../core/limits/index.ts';
import type { Ownership } from '../../core/notify/recipient.ts';

interface KnownDeps {
  readonly limitTable: LimitTable;
  readonly policy: Policy;
  /** In force as long as no set is live. */
  readonly packed: LimitSet;
  readonly directory: () => Promise<Directory | undefined>;
}

/** Serves one run: asked as often as need be, read once. @throws {LimitsError | DirectoryError} */
export type OwnershipReader = () => Promise<Ownership>;

export function knownIn(pointer: LimitPointer | undefined, deps: KnownDeps): OwnershipReader {
  let known: Promise<Ownership> | undefined;
  const read = async (): Promise<Ownership> => {
    const [limits, directory] = await Promise.all([limitsIn(pointer, deps), deps.directory()]);
    return { limits, directory };
  };
  return () => {
    known ??= read();
    return known;
  };
}

async function limitsIn(pointer: LimitPointer | undefined, deps: KnownDeps): Promise<LimitSet> {
  if (pointer === undefined) return deps.packed;
  const { document } = await readLimitSet(pointer.set, deps.limitTable);
  return readDocument(document, pointer.set, deps.policy).limits;
}
