import type { Reading } from '../../document/reading.ts';
import { containerSettingsOf, type Demand, demandOf, type ResourceDemand } from '../../kubernetes/demand.ts';
import { type Quantity, quantityText, sumOfQuantities } from '../../kubernetes/quantity.ts';
import { CAP_SUBJECTS, type Cap, CONTAINER_KINDS, readCaps } from '../../kubernetes/resource-caps.ts';
import { effective, resourceVariableName, type Setting } from '../../kubernetes/resource-variables.ts';
import type { Check, FieldMissingReason, StatelessRuleKind } from '../rule-kind.ts';
import type { InvalidResourceReason, ResourceCap } from './resources-text.ts';

/** Enough to mend a job by; a job with a hundred services could have hundreds. */
const REASONS_MAX = 10;
const NONE: readonly ResourceReason[] = [];
const VARIABLES_MISSING: FieldMissingReason = { code: 'FIELD_MISSING', field: 'variables' };

type ResourceReason = ResourceCap | InvalidResourceReason | FieldMissingReason;

/** A setting and what it asks for. */
interface Amount {
  readonly setting: Setting;
  readonly quantity: Quantity;
}

/**
 * The CPU, memory and ephemeral storage that a job may ask the Kubernetes executor for: at most the caps, and at least
 * `min` where it asks at all. What the runner gives a container that asks for nothing stands in the runner's configuration and is not counted. But under a cap for a limit
 * alone (`build: {memory_limit: 16Gi}`) a job that sets no such limit lacks a field: its container may have none.
 */
export const resources: StatelessRuleKind<ResourceCap | InvalidResourceReason> = {
  class: 'security',
  keys: [...CAP_SUBJECTS, 'min'],
  read: readResources,
  readsVariables: true,
};

function readResources(reading: Reading): Check<ResourceCap | InvalidResourceReason> {
  const caps = readCaps(reading);
  const floors = readFloors(reading.at('min'));
  if (![...CAP_SUBJECTS, 'min'].some((key) => reading.at(key).isThere)) {
    reading.refuse(`has no caps; expected one of ${CAP_SUBJECTS.join(', ')}, or min`);
  }
  return ({ request }) => {
    const demand = demandOf(request);
    const reasons: ResourceReason[] =
      request.variables === undefined
        ? [VARIABLES_MISSING]
        : caps.flatMap((cap) => limitMissing(cap, demand));
    if (demand === undefined) return reasons;
    const bounds = [
      ...caps.map((cap) => [cap, tooMuch] as const),
      ...floors.map((cap) => [cap, tooLittle] as const),
    ];
    for (const [cap, judge] of bounds) {
      for (const reason of reasonsUnder(cap, demand[cap.resource], judge)) {
        // One variable can stand for a request and a limit, or for many services: what is the same is told once.
        if (reasons.some((told) => isSame(told, reason))) continue;
        reasons.push(reason);
        if (reasons.length === REASONS_MAX) return reasons;
      }
    }
    return reasons;
  };
}

function readFloors(reading: Reading): readonly Cap[] {
  if (!reading.isThere || !reading.object(CONTAINER_KINDS)) return [];
  return readCaps(reading, CONTAINER_KINDS);
}

/** For the build and its helper, which every job has; a limit of the pod holds for them, too. */
function limitMissing(
  { subject, resource, bound, isOwn }: Cap,
  demand: Demand | undefined,
): readonly ResourceReason[] {
  if (!isOwn || bound !== 'limit' || (subject !== 'build' && subject !== 'helper')) return NONE;
  const asked = demand?.[resource];
  if (asked?.[subject].limit !== undefined || asked?.pod.limit !== undefined) return NONE;
  return [{ code: 'FIELD_MISSING', field: resourceVariableName(subject, resource, bound) }];
}

/** Returns the reason against one amount, or undefined if it is within the bound. */
type Judge = (cap: Cap, setting: Setting, asked: Quantity) => ResourceCap | undefined;

function reasonsUnder(cap: Cap, demand: ResourceDemand, judge: Judge): readonly ResourceReason[] {
  // Kubernetes refuses a pod that asks for less than its containers, and schedules one that asks for more by its own word.
  if (cap.subject === 'job')
    return [...againstOne(effective(demand.pod, cap.bound), cap, judge), ...againstSum(demand, cap)];
  if (cap.subject !== 'service') return againstOne(effective(demand[cap.subject], cap.bound), cap, judge);
  return [
    // The job's own word counts even if every service overrides it: the runner's configuration may add services.
    ...againstOne(demand.service[cap.bound], cap, judge),
    ...demand.services.flatMap((asked) => againstOne(effective(asked, cap.bound), cap, judge)),
  ];
}

function againstOne(setting: Setting | undefined, cap: Cap, judge: Judge): readonly ResourceReason[] {
  if (setting === undefined) return NONE;
  const { quantity } = setting;
  if (quantity === undefined) return [invalid(setting)];
  const reason = judge(cap, setting, quantity);
  return reason === undefined ? NONE : [reason];
}

/** All containers together. A sum with a part that cannot be read is not told. */
function againstSum(demand: ResourceDemand, cap: Cap): readonly ResourceReason[] {
  const parts: Amount[] = [];
  const unread: ResourceReason[] = [];
  for (const setting of containerSettingsOf(demand, cap.bound)) {
    const { quantity } = setting;
    if (quantity === undefined) unread.push(invalid(setting));
    else parts.push({ setting, quantity });
  }
  if (unread.length > 0) return unread;
  const largest = largestOf(parts);
  const reason = largest && tooMuch(cap, largest, sumOfQuantities(parts.map(({ quantity }) => quantity)));
  if (reason === undefined) return NONE;
  return [parts.length === 1 ? reason : { ...reason, sum: true }];
}

/** The setting that adds most; one that several services follow adds as often. The first of equal ones counts. */
function largestOf(parts: readonly Amount[]): Setting | undefined {
  const added = new Map<string, { readonly setting: Setting; readonly nanos: bigint }>();
  for (const { setting, quantity } of parts) {
    const key = JSON.stringify(named(setting));
    added.set(key, { setting, nanos: (added.get(key)?.nanos ?? 0n) + quantity.nanos });
  }
  const [first, ...others] = added.values();
  return others.reduce((largest, each) => (largest && largest.nanos >= each.nanos ? largest : each), first)
    ?.setting;
}

const invalid = (setting: Setting): InvalidResourceReason => ({
  code: 'RESOURCE_INVALID',
  ...named(setting),
});

const tooMuch: Judge = (cap, setting, asked) =>
  asked.nanos > cap.amount.nanos ? outside(cap, setting, asked) : undefined;

const tooLittle: Judge = (cap, setting, asked) =>
  asked.nanos < cap.amount.nanos ? { ...outside(cap, setting, asked), isFloor: true } : undefined;

const outside = (cap: Cap, setting: Setting, asked: Quantity): ResourceCap => ({
  code: 'RESOURCE_CAP',
  resource: cap.resource,
  ...named(setting),
  asked: quantityText(asked),
  cap: quantityText(cap.amount),
});

const isSame = (one: ResourceReason, other: ResourceReason): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Which variable it is; its value stays here. */
const named = ({ variable, service }: Setting): { readonly variable: string; readonly service?: string } =>
  service === undefined ? { variable } : { variable, service };
