import { DirectoryError, DynamoDirectoryTable, directoryListedAtMs } from '../../core/directory/index.ts';
import type { LedgerClock } from '../../core/environment/index.ts';
import {
  dynamoCanaryOutcomes,
  dynamoControllerScope,
  dynamoRecountOutcomes,
} from '../../core/ledger/index.ts';
import { DynamoLimitTable, LimitsError } from '../../core/limits/index.ts';
import { type InstanceTable, LedgerError, readRelayBeats } from '../../core/store/index.ts';
import type { HealthEvidence, ReadResult } from './evidence.ts';
import { judgeHealth } from './judge-health.ts';
import type { HealthView } from './model.ts';

interface HealthReadDeps extends InstanceTable {
  readonly clock: LedgerClock;
  readonly random: () => number;
  /** GitLab's side; whoever has no token says why it is not known. */
  readonly controller: () => Promise<HealthEvidence['controller']>;
}

/** Nobody's job waits for it. */
const WAIT = { timeoutMs: 15_000 };

/** Looks at everything at once. A part that does not answer is a finding, never a failure of the whole. */
export async function readHealth(deps: HealthReadDeps): Promise<HealthView> {
  const [beats, listedAtMs, limits, recount, scope, canary, controller] = await Promise.all([
    read(() => readRelayBeats(deps)),
    read(() => directoryListedAtMs(new DynamoDirectoryTable(deps))),
    read(async () => (await new DynamoLimitTable(deps).getPointer(WAIT))?.atMs),
    read(() => dynamoRecountOutcomes(deps).read()),
    read(() => dynamoControllerScope(deps).read()),
    read(() => dynamoCanaryOutcomes(deps).read()),
    deps.controller(),
  ]);
  const nowMs = deps.clock.nowMs();
  const evidence = {
    beats,
    directoryListedAtMs: listedAtMs,
    limitsLiveAtMs: limits,
    recount,
    scope,
    canary,
    controller,
  };
  const findings = judgeHealth({ ...evidence, nowMs });
  return {
    checkedAtMs: nowMs,
    problems: findings.filter(({ severity }) => severity === 'problem').length,
    findings,
  };
}

async function read<T>(ask: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { known: true, value: await ask() };
  } catch (error) {
    const isFinding = [LedgerError, DirectoryError, LimitsError].some((kind) => error instanceof kind);
    if (!isFinding) throw error;
    return { known: false, why: (error as Error).message };
  }
}
