import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { type SingleItem, singleItem } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import type { InstanceTable } from '../store/operation.ts';
import { numberValue, readNumber, readText, textValue } from './record.ts';

/** As the sweep last read it, for programs that cannot ask GitLab: a job out of scope is not a bypass. */
export interface ControllerScope {
  readonly controllerId: number;
  readonly state: 'enabled' | 'dry_run' | 'disabled';
  readonly readAtMs: number;
  /** Unix ms since when every runner is in scope; 0: always. Absent: not every runner is. */
  readonly instanceSinceMs?: number;
  readonly runners: ReadonlyMap<number, number>;
}

/** Before the first read every job is in scope. */
export type ControllerScopeStore = SingleItem<ControllerScope>;

const BELIEVED_MS = DAY_MS;

/** True if GitLab did not have to ask: the job started before its runner came into scope. Without a runner id it is in scope. */
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

/** Keeps the start time of runners that were in scope before. A first read, or another controller, has none. */
export function scopeAfter(
  before: ControllerScope | undefined,
  { controllerId, state, instance, runnerIds }: ScopeRead,
  nowMs: number,
): ControllerScope {
  const known = before?.controllerId === controllerId ? before : undefined;
  const newSinceMs = known === undefined ? 0 : nowMs;
  return {
    ...{ controllerId, state, readAtMs: nowMs },
    ...(instance && { instanceSinceMs: known?.instanceSinceMs ?? newSinceMs }),
    runners: new Map(
      runnerIds.map((id) => [id, known?.instanceSinceMs ?? known?.runners.get(id) ?? newSinceMs]),
    ),
  };
}

export const dynamoControllerScope = ({ table, instance }: InstanceTable): ControllerScopeStore =>
  singleItem<ControllerScope>({
    ...{ table, key: ledgerKeys(instance).controllerScope, name: 'the scope', consistent: true },
    encode: ({ controllerId, state, readAtMs, instanceSinceMs, runners }) => ({
      ci: numberValue(controllerId),
      st: textValue(state),
      at: numberValue(readAtMs),
      ...(instanceSinceMs !== undefined && { is: numberValue(instanceSinceMs) }),
      rs: { M: Object.fromEntries([...runners].map(([id, sinceMs]) => [String(id), numberValue(sinceMs)])) },
    }),
    decode: (item) => {
      const state = readText(item, 'st');
      if (state !== 'enabled' && state !== 'dry_run' && state !== 'disabled') return undefined;
      const runners = Object.entries(item.rs?.M ?? {});
      return {
        ...{ controllerId: readNumber(item, 'ci'), state, readAtMs: readNumber(item, 'at') },
        ...(item.is !== undefined && { instanceSinceMs: readNumber(item, 'is') }),
        runners: new Map(runners.map(([id, { N }]) => [Number(id), Number(N ?? 0)])),
      };
    },
  });

/** `contrary`: GitLab did the opposite. `bypassed`: it ran without a request. `unreached`: no decision, or another failure. */
export type ArmResult = (typeof ARM_OUTCOMES)[number];
const ARM_OUTCOMES = ['proven', 'contrary', 'bypassed', 'unreached'] as const;

export interface CanaryOutcome {
  readonly checkedAtMs: number;
  readonly admitted: ArmResult;
  readonly rejected: ArmResult;
  readonly descriptors: string;
  readonly gitlabVersion: string;
  readonly runnerId: number;
}

/** One item, replaced by each canary run. Only the operator's command may write it. */
export const dynamoCanaryOutcomes = ({ table, instance }: InstanceTable): SingleItem<CanaryOutcome> =>
  singleItem<CanaryOutcome>({
    ...{ table, key: ledgerKeys(instance).canaryOutcome, name: 'result of the canary', consistent: false },
    encode: ({ checkedAtMs, admitted, rejected, descriptors, gitlabVersion, runnerId }) => ({
      ...{ at: numberValue(checkedAtMs), ad: textValue(admitted), re: textValue(rejected) },
      ...{ dh: textValue(descriptors), gv: textValue(gitlabVersion), ru: numberValue(runnerId) },
    }),
    decode: (item) => {
      const armIn = (name: string) => ARM_OUTCOMES.find((each) => each === item[name]?.S);
      const [admitted, rejected] = [armIn('ad'), armIn('re')];
      if (admitted === undefined || rejected === undefined) return undefined;
      return {
        ...{ checkedAtMs: readNumber(item, 'at'), admitted, rejected, runnerId: readNumber(item, 'ru') },
        ...{ descriptors: readText(item, 'dh'), gitlabVersion: readText(item, 'gv') },
      };
    },
  });
