import type { ResourceName } from '../../kubernetes/resource-variables.ts';
import { firstFitting, oneLine, quoted, shortened } from '../../text/plain-text.ts';
import type { ReasonText } from '../../text/reason-text.ts';

export interface ResourceCap {
  readonly code: 'RESOURCE_CAP';
  readonly resource: ResourceName;
  /** The variable that asks for too much; for a sum over containers the one that asks for most. */
  readonly variable: string;
  /** The service's image, if the variable is its own. */
  readonly service?: string;
  /** The sum over the job's containers is too large, not this variable alone. */
  readonly sum?: true;
  /** The variable asks for less than `cap`, which is a floor. */
  readonly isFloor?: true;
  /** Kubernetes quantities, e.g. `12`, `500m`, `6Gi`. */
  readonly asked: string;
  readonly cap: string;
}

/** A variable that is no Kubernetes quantity; its value is not told. */
export interface InvalidResourceReason {
  readonly code: 'RESOURCE_INVALID';
  readonly variable: string;
  readonly service?: string;
}

const SERVICE_CHARACTERS_MAX = 30;
const LINE_SERVICE_CHARACTERS_MAX = 150;
/** Kubernetes quantities are short. */
const QUANTITY_CHARACTERS_MAX = 20;
const VARIABLE_CHARACTERS_MAX = 70;

const RESOURCES: Readonly<Record<ResourceName, string>> = {
  cpu: 'CPU',
  memory: 'memory',
  'ephemeral-storage': 'ephemeral storage',
};

interface NamedVariable {
  readonly variable: string;
  readonly service?: string;
}

export const resourceCap: ReasonText<ResourceCap> = {
  headline: (reason) => {
    return capHeadline(reason, `: ${amountsOf(reason)}`);
  },
  discreetHeadline: (reason) => capHeadline(reason, ''),
  line: (reason) => {
    const { resource, sum } = reason;
    return sum
      ? `${RESOURCES[resource]} of all containers of the job: ${amountsOf(reason)}; most of it by ${longName(reason)}`
      : `${longName(reason)}: ${amountsOf(reason)}`;
  },
  advice: (reason, { disclosure }) => {
    const { isFloor } = reason;
    const to = disclosure === 'none' ? '' : ` to ${quantity(reason.cap)} or ${isFloor ? 'more' : 'less'}`;
    return reason.sum
      ? [`Retrying will fail again. Lower ${shortName(reason)} first: it asks for most of the sum.`]
      : [`Retrying will fail again. ${isFloor ? 'Raise' : 'Lower'} ${shortName(reason)}${to}.`];
  },
  faultless: false,
};

const amountsOf = ({ asked, cap, isFloor }: ResourceCap): string =>
  `${quantity(asked)}, at ${isFloor ? 'least' : 'most'} ${quantity(cap)}`;

function capHeadline(reason: ResourceCap, amounts: string): string {
  const resource = RESOURCES[reason.resource];
  if (reason.sum) {
    return firstFitting(
      `The containers of this job together ask for more ${resource} than is allowed here${amounts}.`,
    );
  }
  const asks = `asks for ${reason.isFloor ? 'less' : 'more'} ${resource} than is allowed here${amounts}.`;
  return firstFitting(
    `${longName(reason)} ${asks}`,
    `${shortName(reason)} ${asks}`,
    `${name(reason)} ${asks}`,
  );
}

export const resourceInvalid: ReasonText<InvalidResourceReason> = {
  headline: (reason) => invalidHeadline(reason),
  discreetHeadline: (reason) => invalidHeadline(reason),
  line: (reason) => `${longName(reason)}: no quantity that Kubernetes can read`,
  advice: () => [
    'Retrying will fail again. Write a number without variables in it: 2 or 500m for CPU, 512Mi or 4Gi for memory.',
  ],
  faultless: false,
};

const invalidHeadline = (reason: NamedVariable): string =>
  firstFitting(
    `${longName(reason)} is not a quantity that Kubernetes can read.`,
    `${shortName(reason)} is not a quantity that Kubernetes can read.`,
    `${name(reason)} is not a quantity that Kubernetes can read.`,
  );

const name = ({ variable }: NamedVariable): string => shortened(oneLine(variable), VARIABLE_CHARACTERS_MAX);

const shortName = (reason: NamedVariable): string => serviceName(reason, SERVICE_CHARACTERS_MAX);

const longName = (reason: NamedVariable): string => serviceName(reason, LINE_SERVICE_CHARACTERS_MAX);

const serviceName = ({ variable, service }: NamedVariable, charactersMax: number): string =>
  service === undefined
    ? name({ variable })
    : `${name({ variable })} of service ${quoted(service, charactersMax)}`;

const quantity = (text: string): string => shortened(oneLine(text), QUANTITY_CHARACTERS_MAX);
