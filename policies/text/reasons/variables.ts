import type { ResourceName } from '../../kubernetes/resource-variables.ts';
import { firstFitting } from '../fitting.ts';
import { oneLine, quoted, shortened } from '../plain-text.ts';
import type { ReasonText, Told } from '../reason-text.ts';

const SERVICE_CHARACTERS_MAX = 30;
const LINE_SERVICE_CHARACTERS_MAX = 150;
/** Kubernetes quantities are short. */
const QUANTITY_CHARACTERS_MAX = 20;
const PATTERN_CHARACTERS_MAX = 100;
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

type Cap = Told<'RESOURCE_CAP'>;

export const resourceCap: ReasonText<Cap> = {
  headline: (reason) => {
    const { asked, cap } = reason;
    return capHeadline(reason, `: ${quantity(asked)}, at most ${quantity(cap)}`);
  },
  discreetHeadline: (reason) => capHeadline(reason, ''),
  line: (reason) => {
    const { resource, asked, cap, sum } = reason;
    const amounts = `${quantity(asked)}, at most ${quantity(cap)}`;
    return sum
      ? `${RESOURCES[resource]} of all containers of the job: ${amounts}; most of it by ${longName(reason)}`
      : `${longName(reason)}: ${amounts}`;
  },
  advice: (reason, { disclosure }) => {
    const to = disclosure === 'none' ? '' : ` to ${quantity(reason.cap)} or less`;
    return reason.sum
      ? [`Retrying will fail again. Lower ${shortName(reason)} first: it asks for most of the sum.`]
      : [`Retrying will fail again. Lower ${shortName(reason)}${to}.`];
  },
  faultless: false,
};

function capHeadline(reason: Cap, amounts: string): string {
  const resource = RESOURCES[reason.resource];
  if (reason.sum) {
    return firstFitting(
      `The containers of this job together ask for more ${resource} than is allowed here${amounts}.`,
    );
  }
  return firstFitting(
    `${longName(reason)} asks for more ${resource} than is allowed here${amounts}.`,
    `${shortName(reason)} asks for more ${resource} than is allowed here${amounts}.`,
    `${name(reason)} asks for more ${resource} than is allowed here${amounts}.`,
  );
}

export const resourceInvalid: ReasonText<Told<'RESOURCE_INVALID'>> = {
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

type Overwrite = Told<'OVERWRITE_NOT_ALLOWED'>;

export const overwriteNotAllowed: ReasonText<Overwrite> = {
  headline: (reason) => overwriteHeadline(reason),
  discreetHeadline: (reason) => overwriteHeadline(reason),
  line: (reason) => {
    switch (reason.why) {
      case 'off':
        return `${name(reason)}: may not be set`;
      case 'reserved':
        return `${name(reason)}: labels of runner.gitlab.com are read-only`;
      case 'pattern':
        return reason.pattern === undefined
          ? `${name(reason)}: its value matches no allowed pattern`
          : `${name(reason)}: its value does not match ${shortened(oneLine(reason.pattern), PATTERN_CHARACTERS_MAX)}`;
    }
  },
  advice: (reason, { disclosure }) => {
    switch (reason.why) {
      case 'off':
        return [
          'Retrying will fail again. Remove the variable wherever it is set: in the job, the pipeline or the CI/CD settings.',
        ];
      case 'reserved':
        return ['Retrying will fail again. Use another label.'];
      case 'pattern':
        return disclosure === 'none' || reason.pattern === undefined
          ? ['Retrying will fail again. Give the variable another value, or remove it.']
          : [
              `Retrying will fail again. Give the variable a value that matches ${shortened(oneLine(reason.pattern), PATTERN_CHARACTERS_MAX)}, or remove it.`,
            ];
    }
  },
  faultless: false,
};

function overwriteHeadline(reason: Overwrite): string {
  switch (reason.why) {
    case 'off':
      return `Variable ${name(reason)} may not be set here.`;
    case 'pattern':
      return `Variable ${name(reason)} has a value that is not allowed here.`;
    case 'reserved':
      return `Variable ${name(reason)} may not set labels of runner.gitlab.com.`;
  }
}

const name = ({ variable }: NamedVariable): string => shortened(oneLine(variable), VARIABLE_CHARACTERS_MAX);

const shortName = (reason: NamedVariable): string => serviceName(reason, SERVICE_CHARACTERS_MAX);

const longName = (reason: NamedVariable): string => serviceName(reason, LINE_SERVICE_CHARACTERS_MAX);

const serviceName = ({ variable, service }: NamedVariable, charactersMax: number): string =>
  service === undefined
    ? name({ variable })
    : `${name({ variable })} of service ${quoted(service, charactersMax)}`;

const quantity = (text: string): string => shortened(oneLine(text), QUANTITY_CHARACTERS_MAX);
