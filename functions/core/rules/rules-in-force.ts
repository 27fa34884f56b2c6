/** The rules in force: packed with the code, with published limits. One per process. */

import { type LimitSet, subjectKey } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { placementOf } from '../../../policies/place/placement.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { Rules } from '../admission/index.ts';
import type { LedgerClock, Log } from '../environment/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { LimitStore, type LimitTable } from '../limits/index.ts';

interface RulesInForceDeps {
  readonly table: LimitTable;
  /** Says how the period before ended, for limits that carry over. */
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: LedgerClock;
  readonly log: Log;
  /** Reads the jobs' groups from the stored directory; never throws. Absent: only the packed directory. */
  readonly directoryFor?: DirectoryFor;
  /** Called if published limits cannot be read. @default ignored */
  readonly onUnreadable?: (() => void) | undefined;
}

type DirectoryFor = (jobs: readonly Omit<PlacedJob, 'jobId'>[]) => Promise<Directory | undefined>;

export interface RulesInForce {
  /** Packed with the code; their limits apply until a set is published. */
  readonly packed: Rules;
  /** The rules for these jobs. @throws {LimitsError} like {@link LimitStore.limitsFor}. */
  readonly rulesFor: (jobs: readonly PlacedJob[]) => Promise<Rules>;
  /** The live limits of these subjects, perhaps others', too. @throws {LimitsError} likewise. */
  readonly limitsFor: (subjects: Iterable<string>) => Promise<LimitSet>;
  readonly directoryFor: DirectoryFor;
}

/** Ids that locate a job. */
type PlacedJob = Pick<
  AdmissionRequest,
  'jobId' | 'projectId' | 'projectPath' | 'namespaceId' | 'rootNamespaceId' | 'suspicious'
>;

export function rulesInForce(
  packed: Rules,
  { table, ledger, clock, log, directoryFor = async () => packed.directory, onUnreadable }: RulesInForceDeps,
): RulesInForce {
  const store = new LimitStore({
    table,
    policy: packed.policy,
    packed: packed.limits,
    clock,
    previous: (keys) => ledger.readCounters(keys),
    log,
    onUnreadable,
  });
  return {
    packed,
    limitsFor: (subjects) => store.limitsFor(subjects),
    directoryFor,
    rulesFor: async (jobs) => {
      const directory = await directoryFor(jobs);
      const limits = await store.limitsFor(subjectsOf(jobs, directory));
      const limitsAreCurrent = async (timeoutMs: number): Promise<boolean> => {
        const isStale = store.recheck(limits.version);
        return !(await Promise.race([isStale, clock.sleep(timeoutMs).then(() => false)]));
      };
      return { ...packed, directory, limits, limitsAreCurrent };
    },
  };
}

/** Root, groups in between, own group and project of each job, as far as they are known. */
function subjectsOf(jobs: readonly PlacedJob[], directory: Directory | undefined): ReadonlySet<string> {
  const subjects = new Set<string>();
  for (const job of jobs) {
    const { ancestors, groupId, projectId } = placementOf(job, directory);
    for (const { id } of ancestors) subjects.add(subjectKey({ kind: 'group', id }));
    if (groupId !== undefined) subjects.add(subjectKey({ kind: 'group', id: groupId }));
    if (projectId !== undefined) subjects.add(subjectKey({ kind: 'project', id: projectId }));
  }
  return subjects;
}
