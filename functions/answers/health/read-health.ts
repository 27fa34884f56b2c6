import { withoutAbsent } from '../../../policies/without-absent.ts';
import { DirectoryError } from '../../core/directory/directory-table.ts';
import { DynamoDirectoryTable } from '../../core/directory/dynamo-directory-table.ts';
import { directoryListedAtMs } from '../../core/directory/hand-out.ts';
import type { LedgerClock } from '../../core/environment/environment.ts';
import { dynamoRecountOutcomes } from '../../core/ledger/checkpoints.ts';
import { dynamoCanaryOutcomes, dynamoControllerScope } from '../../core/ledger/controller.ts';
import { DynamoLimitTable } from '../../core/limits/dynamo-limit-table.ts';
import { readHistory } from '../../core/limits/limit-reads.ts';
import { LimitsError } from '../../core/limits/limit-table.ts';
import { singleItem } from '../../core/store/calls.ts';
import { readRelayBeats } from '../../core/store/health-items.ts';
import { ledgerKeys } from '../../core/store/keys.ts';
import type { InstanceTable, Item } from '../../core/store/operation.ts';
import { LedgerError } from '../../core/store/table-failure.ts';
import { DynamoRollupStore } from '../../core/usage/rollup-store.ts';
import type { Usage } from '../../core/usage/usage.ts';
import { coverageViewOf } from '../groups/coverage.ts';
import { placesNow } from '../reading/limits-now.ts';
import { dayText, readDays, today } from '../reading/usage-days.ts';
import {
  type CoverageEvidence,
  type DecisionCounts,
  type DeployedEvidence,
  type GitLabEvidence,
  type HealthView,
  HealthViewSchema,
  type ReadResult,
  type RejectionsEvidence,
} from './evidence.ts';
import { judgeHealth } from './judge-health.ts';

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

/** An edit and the one that mended it, and a few that have nothing to do with it. */
const EDITS_NAMED = 3;
const WEEK_DAYS = 7;

interface RejectionsReadDeps extends InstanceTable {
  readonly clock: LedgerClock;
  readonly random: () => number;
  /** IANA zone of the days of usage. */
  readonly zone: string;
}

/** Reads the decisions since the health check before, and the changes before them. @throws {LedgerError} */
async function readRejections(deps: RejectionsReadDeps): Promise<RejectionsEvidence> {
  const to = today(deps.zone, deps.clock.nowMs());
  const [kept, days, { entries }] = await Promise.all([
    dynamoHealthLook(deps).read(),
    readDays(['instance'], { from: to - WEEK_DAYS, to }, new DynamoRollupStore(deps)),
    readHistory({ max: EDITS_NAMED }, new DynamoLimitTable(deps)),
  ]);
  const usages = days.get('instance') ?? [];
  const now = decisionsIn(usages.slice(WEEK_DAYS));
  const before = kept?.view.decisions;
  const isSameDay = before?.day === dayText(to);
  return {
    today: { day: dayText(to), ...now },
    recent: isSameDay
      ? { decided: now.decided - before.decided, rejected: now.rejected - before.rejected }
      : now,
    week: decisionsIn(usages.slice(0, WEEK_DAYS)),
    edits: entries.map(({ edit, atMs, actor }) => ({ edit, atMs, actor })),
    policyBefore: kept?.deployed.policyVersion,
  };
}

const decisionsIn = (usages: readonly Usage[]): DecisionCounts => ({
  decided: usages.reduce((sum, { admitted, rejected }) => sum + admitted + rejected, 0),
  rejected: usages.reduce((sum, { rejected }) => sum + rejected, 0),
});

// Stored result of the last hourly health check.

interface KeptLook {
  readonly view: HealthView;
  readonly deployed: DeployedEvidence;
}

interface LookStore {
  /** Undefined: there was none yet, or a newer program wrote it. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<KeptLook | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(look: KeptLook): Promise<void>;
}

const VIEW = 'vw';
const POLICY = 'po';
const DESCRIPTORS = 'ds';

/** One item, which each look replaces. */
export function dynamoHealthLook({ table, instance }: InstanceTable): LookStore {
  const key = ledgerKeys(instance).healthLook;
  const asIs = (each: Item): Item => each;
  const item = singleItem({
    ...{ table, key, name: 'the hourly look', consistent: false },
    ...{ encode: asIs, decode: asIs },
  });
  return {
    async read() {
      const found = await item.read();
      const view = HealthViewSchema.safeParse(parsed(found?.[VIEW]?.S));
      if (found === undefined || !view.success) return undefined;
      const [policyVersion, descriptorsVersion] = [found[POLICY]?.S, found[DESCRIPTORS]?.S];
      return { view: view.data, deployed: { policyVersion, descriptorsVersion } };
    },
    write: ({ view, deployed: { policyVersion, descriptorsVersion } }) =>
      item.write({
        [VIEW]: { S: JSON.stringify(view) },
        ...withoutAbsent({
          [POLICY]: policyVersion === undefined ? undefined : { S: policyVersion },
          [DESCRIPTORS]: descriptorsVersion === undefined ? undefined : { S: descriptorsVersion },
        }),
      }),
  };
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
