import { DirectoryError, DynamoDirectoryTable, directoryListedAtMs } from '../../core/directory/index.ts';
import type { LedgerClock } from '../../core/environment/index.ts';
import {
  dynamoCanaryOutcomes,
  dynamoControllerScope,
  dynamoRecountOutcomes,
} from '../../core/ledger/index.ts';
import { DynamoLimitTable, LimitsError } from '../../core/limits/index.ts';
import { type InstanceTable, LedgerError, readRelayBeats } from '../../core/store/index.ts';
import { DynamoRollupStore } from '../../core/usage/index.ts';
import { coverageViewOf } from '../coverage/coverage-view.ts';
import { placesNow } from '../reading/places-now.ts';
import type { CoverageEvidence, DeployedEvidence, GitLabEvidence, ReadResult } from './evidence.ts';
import { judgeHealth } from './judge-health.ts';
import type { HealthView } from './model.ts';
import { readRejections } from './read-rejections.ts';

interface HealthReadDeps extends InstanceTable {
  readonly clock: LedgerClock;
  readonly random: () => number;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  /** Settings of the deployed functions. @throws {LedgerError} */
  readonly deployed: () => Promise<DeployedEvidence>;
  /** GitLab's side; without a token, the reason why it is unknown. */
  readonly gitlab: () => Promise<GitLabEvidence>;
}

/** No job waits for it. */
const WAIT = { timeoutMs: 15_000 };
/** Problems repaired yesterday are not reported today. */
const COVERAGE_DAYS = 2;
const RUNNERS_NAMED = 5;

/** Reads all parts in parallel. A part that does not answer is a finding, not a failure. */
export async function readHealth(deps: HealthReadDeps): Promise<HealthView> {
  const [beats, listedAtMs, limits, recount, scope, canary, coverage, rejections, deployed, gitlab] =
    await Promise.all([
      read(() => readRelayBeats(deps)),
      read(() => directoryListedAtMs(new DynamoDirectoryTable(deps))),
      read(async () => (await new DynamoLimitTable(deps).getPointer(WAIT))?.atMs),
      read(() => dynamoRecountOutcomes(deps).read()),
      read(() => dynamoControllerScope(deps).read()),
      read(() => dynamoCanaryOutcomes(deps).read()),
      read(() => readCoverage(deps)),
      read(() => readRejections(deps)),
      read(deps.deployed),
      deps.gitlab(),
    ]);
  const nowMs = deps.clock.nowMs();
  const findings = judgeHealth({
    ...{ nowMs, beats, recount, scope, canary, coverage, rejections, deployed },
    ...{ directoryListedAtMs: listedAtMs, limitsLiveAtMs: limits },
    ...gitlab,
  });
  return {
    checkedAtMs: nowMs,
    problems: findings.filter(({ severity }) => severity === 'problem').length,
    findings,
    ...(rejections.known && { decisions: rejections.value.today }),
  };
}

async function read<T>(ask: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { known: true, value: await ask() };
  } catch (error) {
    const isFinding = [LedgerError, DirectoryError, LimitsError].some((kind) => error instanceof kind);
    if (!isFinding) throw error;
    const why = (error as Error).message;
    const cause = causeIn(why);
    return { known: false, why, ...(cause !== undefined && { cause }) };
  }
}

/** Only the names of AWS's errors go on in a message, never the error. */
function causeIn(why: string): 'denied' | 'throttled' | undefined {
  if (/AccessDenied/.test(why)) return 'denied';
  return /Throttling|ProvisionedThroughputExceeded|RequestLimitExceeded/.test(why) ? 'throttled' : undefined;
}

const WHO_SEES_ALL = {
  ...{ id: 0, username: '', name: '' },
  roles: { admin: true, finance: false, ownedGroupIds: [], viewerGroupIds: [] },
};

async function readCoverage(deps: HealthReadDeps): Promise<CoverageEvidence> {
  const { clock, zone } = deps;
  const usage = new DynamoRollupStore(deps);
  const viewAmong = (places: ReturnType<typeof placesNow>) =>
    coverageViewOf({ clock, zone, usage, places })({ days: COVERAGE_DAYS, max: RUNNERS_NAMED }, WHO_SEES_ALL);
  const whole = await viewAmong(async () => undefined);
  // Runners stand with the groups, which are many to read.
  const view =
    whole === undefined || whole.total.bypass === 0
      ? whole
      : await viewAmong(placesNow({ table: new DynamoDirectoryTable(deps), packed: undefined, clock }));
  const bypassing = (view?.runners ?? []).filter(({ bypass }) => bypass > 0);
  return {
    days: COVERAGE_DAYS,
    ran: view?.total.ran ?? 0,
    bypass: view?.total.bypass ?? 0,
    bypassingRunnerIds: bypassing.map(({ runnerId }) => runnerId),
    bypassingRunners: view?.runnersBypassing ?? 0,
  };
}
