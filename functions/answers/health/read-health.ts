import { parsedJson } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { DirectoryError, DynamoDirectoryTable } from '../../core/directory/directory-table.ts';
import { directoryListedAtMs } from '../../core/directory/hand-out.ts';
import type { LedgerClock } from '../../core/environment/environment.ts';
import { dynamoRecountOutcomes } from '../../core/ledger/checkpoints.ts';
import { dynamoCanaryOutcomes, dynamoControllerScope } from '../../core/ledger/controller.ts';
import { DynamoLimitTable, LimitsError } from '../../core/limits/limit-table.ts';
import { singleItem } from '../../core/store/calls.ts';
import { readRelayHeartbeats } from '../../core/store/health-items.ts';
import { ledgerKeys } from '../../core/store/keys.ts';
import type { InstanceTable } from '../../core/store/operation.ts';
import { LedgerError } from '../../core/store/table-failure.ts';
import { DynamoRollupStore } from '../../core/usage/rollup-store.ts';
import { coverageViewOf } from '../groups/coverage.ts';
import { placesNow } from '../reading/limits-now.ts';
import { type DeployedEvidence, type HealthView, HealthViewSchema, type ReadResult } from './evidence.ts';
import type { GitLabEvidence } from './read-gitlab.ts';

export interface HealthReadDeps extends InstanceTable {
  readonly clock: LedgerClock;
  readonly random: () => number;
  readonly zone: string;
  readonly deployed: () => Promise<DeployedEvidence>;
  readonly gitlab: () => Promise<GitLabEvidence>;
}

/** No job waits for it. */
const WAIT = { timeoutMs: 15_000 };
/** Problems repaired yesterday are not reported today. */
const COVERAGE_DAYS = 2;
const RUNNERS_NAMED = 5;

/** Traces of each program in the table. Undefined: none yet. */
const readsOf = (deps: HealthReadDeps) => ({
  /** Heartbeats of the last hour; empty: no relay writes to this table. */
  heartbeats: () => readRelayHeartbeats(deps),
  directoryListedAtMs: () => directoryListedAtMs(new DynamoDirectoryTable(deps)),
  limitsLiveAtMs: async () => (await new DynamoLimitTable(deps).getPointer(WAIT))?.atMs,
  recount: () => dynamoRecountOutcomes(deps).read(),
  scope: () => dynamoControllerScope(deps).read(),
  canary: () => dynamoCanaryOutcomes(deps).read(),
  coverage: () => readCoverage(deps),
  deployed: deps.deployed,
});

type Reads = ReturnType<typeof readsOf>;

export type HealthEvidence = GitLabEvidence & {
  readonly [Part in keyof Reads]: ReadResult<Awaited<ReturnType<Reads[Part]>>>;
} & {
  readonly nowMs: number;
};

/** Reads all parts in parallel. A part that does not answer is a finding, not a failure. */
export async function readEvidence(deps: HealthReadDeps): Promise<HealthEvidence> {
  const reads = Object.entries<() => Promise<unknown>>(readsOf(deps));
  const [gitlab, ...parts] = await Promise.all([
    deps.gitlab(),
    ...reads.map(async ([part, ask]) => [part, await read(ask)] as const),
  ]);
  const traces = Object.fromEntries(parts) as Omit<HealthEvidence, keyof GitLabEvidence | 'nowMs'>;
  return { ...traces, ...gitlab, nowMs: deps.clock.nowMs() };
}

async function read<T>(ask: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { known: true, value: await ask() };
  } catch (error) {
    const isFinding = [LedgerError, DirectoryError, LimitsError].some((kind) => error instanceof kind);
    if (!isFinding) throw error;
    const why = (error as Error).message;
    // Only the names of AWS's errors go on in a message, never the error.
    const [, cause] = CAUSES.find(([name]) => name.test(why)) ?? [];
    return { known: false, why, ...withoutAbsent({ cause }) };
  }
}

const CAUSES = [
  [/AccessDenied/, 'denied'],
  [/Throttling|ProvisionedThroughputExceeded|RequestLimitExceeded/, 'throttled'],
] as const;

const SEES_ALL = { roles: { admin: true, finance: false, ownedGroupIds: [], viewerGroupIds: [] } };

async function readCoverage(deps: HealthReadDeps) {
  const { clock, zone } = deps;
  const usage = new DynamoRollupStore(deps);
  const viewAmong = (places: ReturnType<typeof placesNow>) =>
    coverageViewOf({ clock, zone, usage, places })({ days: COVERAGE_DAYS, max: RUNNERS_NAMED }, SEES_ALL);
  const whole = await viewAmong(async () => undefined);
  // Runners are stored with the groups, which are many to read.
  const places = placesNow({ table: new DynamoDirectoryTable(deps), packed: undefined, clock });
  const view = whole !== undefined && whole.total.bypass > 0 ? await viewAmong(places) : whole;
  const bypassing = (view?.runners ?? []).filter(({ bypass }) => bypass > 0);
  return {
    days: COVERAGE_DAYS,
    ran: view?.total.ran ?? 0,
    bypass: view?.total.bypass ?? 0,
    bypassingRunnerIds: bypassing.map(({ runnerId }) => runnerId),
    bypassingRunners: view?.runnersBypassing ?? 0,
  };
}

const VIEW = 'vw';
const POLICY = 'po';
const DESCRIPTORS = 'ds';

/** The result of the last hourly check. Undefined: none, or of a newer program. */
export function dynamoHealthCheck({ table, instance }: InstanceTable) {
  const text = (value: string | undefined) => (value === undefined ? undefined : { S: value });
  return singleItem<{ readonly view: HealthView; readonly deployed: DeployedEvidence }>({
    ...{ table, key: ledgerKeys(instance).healthLook, name: 'the hourly health check', consistent: false },
    encode: ({ view, deployed: { policyVersion, descriptorsVersion } }) => ({
      [VIEW]: { S: JSON.stringify(view) },
      ...withoutAbsent({ [POLICY]: text(policyVersion), [DESCRIPTORS]: text(descriptorsVersion) }),
    }),
    decode: (item) => {
      const view = HealthViewSchema.safeParse(parsedJson(item[VIEW]?.S ?? ''));
      const [policyVersion, descriptorsVersion] = [item[POLICY]?.S, item[DESCRIPTORS]?.S];
      return view.success ? { view: view.data, deployed: { policyVersion, descriptorsVersion } } : undefined;
    },
  });
}
