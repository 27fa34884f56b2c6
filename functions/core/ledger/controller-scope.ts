import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { type InstanceTable, type Item, ledgerKeys, singleItem } from '../store/index.ts';

/**
 * The scope of the runner controller, as the sweep last read it. Programs that learn of jobs and cannot ask
 * GitLab use it: a job out of scope is not a bypass.
 */
export interface ControllerScope {
  readonly controllerId: number;
  /** Only `enabled` makes GitLab follow an answer. */
  readonly state: 'enabled' | 'dry_run' | 'disabled';
  /** Unix ms. */
  readonly readAtMs: number;
  /** Unix ms since when every runner is in scope; 0: always. Absent: not every runner is. */
  readonly instanceSinceMs?: number;
  /** The same of single runners, by id. */
  readonly runners: ReadonlyMap<number, number>;
}

export interface ControllerScopeStore {
  /**
   * Returns undefined if it was never read; then every job is in scope. @throws {LedgerError}
   * `ledger_unavailable`
   */
  read(): Promise<ControllerScope | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(scope: ControllerScope): Promise<void>;
}

/** An older scope is stale; then every job is in scope. */
const BELIEVED_MS = DAY_MS;

/**
 * Returns true if GitLab did not have to ask about this job. A job that started before its runner came into
 * scope is out of scope; without a runner id it is in scope.
 */
export function isOutOfScope(
  { runnerId, startedAtMs }: { readonly runnerId?: number; readonly startedAtMs?: number },
  scope: ControllerScope | undefined,
  nowMs: number,
): boolean {
  if (scope === undefined || runnerId === undefined || nowMs - scope.readAtMs > BELIEVED_MS) return false;
  const sinceMs = scope.instanceSinceMs ?? scope.runners.get(runnerId);
  return sinceMs === undefined || (startedAtMs !== undefined && startedAtMs < sinceMs);
}

/** Returns true in dry run: GitLab asks but ignores decisions, so a rejected job that ran is not a bypass. */
export const followsNoAnswer = (scope: ControllerScope | undefined): boolean =>
  scope !== undefined && scope.state !== 'enabled';

interface ScopeRead extends Pick<ControllerScope, 'controllerId' | 'state'> {
  readonly instance: boolean;
  readonly runnerIds: readonly number[];
}

/**
 * Keeps the start time of runners that were in scope before. A first read, or another controller, has none.
 */
export function scopeAfter(
  before: ControllerScope | undefined,
  read: ScopeRead,
  nowMs: number,
): ControllerScope {
  const { controllerId, state, instance, runnerIds } = read;
  const known = before?.controllerId === controllerId ? before : undefined;
  const newSinceMs = known === undefined ? 0 : nowMs;
  return {
    controllerId,
    state,
    readAtMs: nowMs,
    ...(instance && { instanceSinceMs: known?.instanceSinceMs ?? newSinceMs }),
    runners: new Map(
      runnerIds.map((id) => [id, known?.instanceSinceMs ?? known?.runners.get(id) ?? newSinceMs]),
    ),
  };
}

const CONTROLLER = 'ci';
const STATE = 'st';
const READ_AT = 'at';
const INSTANCE_SINCE = 'is';
const RUNNERS = 'rs';

/** One item; a runner takes some twenty bytes, so ten thousand fit. */
export function dynamoControllerScope({ table, instance }: InstanceTable): ControllerScopeStore {
  const key = ledgerKeys(instance).controllerScope;
  const item = singleItem({ table, key, name: 'the scope', consistent: true });
  return {
    async read() {
      const found = await item.read();
      return found && decode(found);
    },
    write: (scope) => item.write(encode(scope)),
  };
}

const encode = (scope: ControllerScope): Item => ({
  [CONTROLLER]: { N: String(scope.controllerId) },
  [STATE]: { S: scope.state },
  [READ_AT]: { N: String(scope.readAtMs) },
  ...(scope.instanceSinceMs !== undefined && { [INSTANCE_SINCE]: { N: String(scope.instanceSinceMs) } }),
  [RUNNERS]: {
    M: Object.fromEntries([...scope.runners].map(([id, sinceMs]) => [String(id), { N: String(sinceMs) }])),
  },
});

function decode(item: Item): ControllerScope | undefined {
  const state = item[STATE]?.S;
  if (state !== 'enabled' && state !== 'dry_run' && state !== 'disabled') return undefined;
  const instanceSince = item[INSTANCE_SINCE]?.N;
  return {
    controllerId: Number(item[CONTROLLER]?.N ?? 0),
    state,
    readAtMs: Number(item[READ_AT]?.N ?? 0),
    ...(instanceSince !== undefined && { instanceSinceMs: Number(instanceSince) }),
    runners: new Map(
      Object.entries(item[RUNNERS]?.M ?? {}).map(([id, { N }]) => [Number(id), Number(N ?? 0)]),
    ),
  };
}
