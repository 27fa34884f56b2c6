import type { Reading } from '../document/reading.ts';
import { containerSettingsOf, type Demand, demandOf, type ResourceDemand } from '../kubernetes/footprint.ts';
import { type Quantity, quantityText, sumOfQuantities } from '../kubernetes/quantity.ts';
import { CAP_SUBJECTS, type Cap, CONTAINER_KINDS, readCaps } from '../kubernetes/resource-caps.ts';
import {
  effective,
  type ResourceName,
  resourceVariableName,
  type Setting,
} from '../kubernetes/resource-variables.ts';
import { oneLine, quoted, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import type { FieldMissingReason, StatelessRuleKind } from './rule-kind.ts';

const REASONS_MAX = 10;
const NONE: readonly ResourceReason[] = [];
const VARIABLES_MISSING: FieldMissingReason = { code: 'FIELD_MISSING', field: 'variables' };

type ResourceReason = ResourceCap | InvalidResourceReason | FieldMissingReason;

/**
 * The CPU, memory and ephemeral storage that a job may ask the Kubernetes executor for: at most the caps, and at least
 * `min` where it asks at all. What the runner gives a container that asks for nothing stands in the runner's configuration and is not counted. But under a cap for a limit
 * alone (`build: {memory_limit: 16Gi}`) a job that sets no such limit lacks a field: its container may have none.
 */
export const resources: StatelessRuleKind<ResourceCap | InvalidResourceReason> = {
  class: 'security',
  keys: [...CAP_SUBJECTS, 'min'],
  read(reading) {
    const caps = readCaps(reading);
    const floors = reading.optional('min', readFloors) ?? [];
    if (![...CAP_SUBJECTS, 'min'].some((key) => reading.at(key).isThere)) {
      reading.refuse(`has no caps; expected one of ${CAP_SUBJECTS.join(', ')}, or min`);
    }
    const bounds = [...caps, ...floors];
    return ({ request }) => {
      const demand = demandOf(request);
      const reasons: ResourceReason[] =
        request.variables === undefined
          ? [VARIABLES_MISSING]
          : caps.flatMap((cap) => limitMissing(cap, demand));
      if (demand === undefined) return reasons;
      for (const cap of bounds) {
        for (const reason of reasonsUnder(cap, demand[cap.resource])) {
          // One variable can set a request and a limit, or many services. List equal reasons once.
          if (reasons.some((known) => isSame(known, reason))) continue;
          reasons.push(reason);
          if (reasons.length === REASONS_MAX) return reasons;
        }
      }
      return reasons;
    };
  },
  readsVariables: true,
};

const readFloors = (reading: Reading): readonly Cap[] =>
  reading.object(CONTAINER_KINDS)
    ? readCaps(reading, CONTAINER_KINDS).map((cap) => ({ ...cap, isFloor: true }))
    : [];

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

function reasonsUnder(cap: Cap, demand: ResourceDemand): readonly ResourceReason[] {
  // Kubernetes refuses a pod that asks for less than its containers, and schedules one that asks for more by its own word.
  if (cap.subject === 'job')
    return [...againstOne(effective(demand.pod, cap.bound), cap), ...againstSum(demand, cap)];
  if (cap.subject !== 'service') return againstOne(effective(demand[cap.subject], cap.bound), cap);
  return [
    // The job's own word counts even if every service overrides it: the runner's configuration may add services.
    ...againstOne(demand.service[cap.bound], cap),
    ...demand.services.flatMap((asked) => againstOne(effective(asked, cap.bound), cap)),
  ];
}

function againstOne(setting: Setting | undefined, cap: Cap): readonly ResourceReason[] {
  if (setting === undefined) return NONE;
  const { quantity } = setting;
  if (quantity === undefined) return [invalid(setting)];
  const reason = outside(cap, setting, quantity);
  return reason === undefined ? NONE : [reason];
}

/** Compares the sum of all containers. A sum with an unreadable part is left out. */
function againstSum(demand: ResourceDemand, cap: Cap): readonly ResourceReason[] {
  const settings = containerSettingsOf(demand, cap.bound);
  const unread = settings.filter(({ quantity }) => quantity === undefined);
  if (unread.length > 0) return unread.map(invalid);
  const parts = settings.flatMap(({ quantity }) => quantity ?? []);
  const [first, ...others] = settings;
  const largest = others.reduce((most, each) => (readNanos(most) >= readNanos(each) ? most : each), first);
  const reason = largest && outside(cap, largest, sumOfQuantities(parts));
  if (reason === undefined) return NONE;
  return [parts.length === 1 ? reason : { ...reason, sum: true }];
}

const readNanos = (setting: Setting | undefined): bigint => setting?.quantity?.nanos ?? 0n;

const invalid = (setting: Setting): InvalidResourceReason => ({
  code: 'RESOURCE_INVALID',
  ...named(setting),
});

function outside(cap: Cap, setting: Setting, asked: Quantity): ResourceCap | undefined {
  const { amount, isFloor, resource } = cap;
  if (isFloor ? asked.nanos >= amount.nanos : asked.nanos <= amount.nanos) return undefined;
  return {
    ...{ code: 'RESOURCE_CAP', resource, ...named(setting) },
    ...{ asked: quantityText(asked), cap: quantityText(amount), ...(isFloor && { isFloor }) },
  };
}

const isSame = (one: ResourceReason, other: ResourceReason): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const named = ({ variable, service }: Setting): { readonly variable: string; readonly service?: string } =>
  service === undefined ? { variable } : { variable, service };

export interface ResourceCap {
  readonly code: 'RESOURCE_CAP';
  readonly resource: ResourceName;
  readonly variable: string;
  readonly service?: string;
  /** The sum over the job's containers is too large, not this variable alone. */
  readonly sum?: true;
  readonly isFloor?: true;
  readonly asked: string;
  readonly cap: string;
}

export interface InvalidResourceReason {
  readonly code: 'RESOURCE_INVALID';
  readonly variable: string;
  readonly service?: string;
}

const SERVICE_CHARACTERS_MAX = 30;
const QUANTITY_CHARACTERS_MAX = 20;
const VARIABLE_CHARACTERS_MAX = 50;

const RESOURCES: Readonly<Record<ResourceName, string>> = {
  cpu: 'CPU',
  memory: 'memory',
  'ephemeral-storage': 'ephemeral storage',
};

export const resourceCap: ReasonText<ResourceCap> = {
  headline: (reason) => capHeadline(reason, `: ${formatAmounts(reason)}`),
  discreetHeadline: (reason) => capHeadline(reason, ''),
  line: (reason) =>
    reason.sum
      ? `${RESOURCES[reason.resource]} of all containers of the job: ${formatAmounts(reason)}; most of it by ${name(reason)}`
      : `${name(reason)}: ${formatAmounts(reason)}`,
  advice: (reason, { disclosure }) => {
    const { isFloor, sum } = reason;
    const to =
      disclosure === 'none' || sum ? '' : ` to ${quantity(reason.cap)} or ${isFloor ? 'more' : 'less'}`;
    return [`Retrying will fail again. ${isFloor ? 'Raise' : 'Lower'} ${name(reason)}${to}.`];
  },
};

const formatAmounts = ({ asked, cap, isFloor }: ResourceCap): string =>
  `${quantity(asked)}, at ${isFloor ? 'least' : 'most'} ${quantity(cap)}`;

function capHeadline(reason: ResourceCap, amounts: string): string {
  const resource = RESOURCES[reason.resource];
  const who = reason.sum ? 'The containers of this job together ask for' : `${name(reason)} asks for`;
  return `${who} ${reason.isFloor ? 'less' : 'more'} ${resource} than allowed here${amounts}.`;
}

export const resourceInvalid: ReasonText<InvalidResourceReason> = {
  headline: (reason) => `${name(reason)} is not a quantity that Kubernetes can read.`,
  line: (reason) => `${name(reason)}: no quantity that Kubernetes can read`,
  advice: () => [
    'Retrying will fail again. Write a number without variables in it: 2 or 500m for CPU, 512Mi or 4Gi for memory.',
  ],
};

const name = ({ variable, service }: Pick<InvalidResourceReason, 'variable' | 'service'>): string =>
  `${shortened(oneLine(variable), VARIABLE_CHARACTERS_MAX)}${service === undefined ? '' : ` of service ${quoted(service, SERVICE_CHARACTERS_MAX)}`}`;

const quantity = (text: string): string => shortened(oneLine(text), QUANTITY_CHARACTERS_MAX);
