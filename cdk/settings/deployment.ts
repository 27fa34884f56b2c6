/** The rules for more than one setting of a deployment, and the defaults that other settings give. */
import type { z } from 'zod';
import type { Deployment } from './props.ts';
import { regionMistakes } from './region-checks.ts';
import { FARGATE_MEMORY_MIB, SETTINGS } from './settings.ts';

const isNewVpc = ({ cidr, ...existing }: z.output<typeof SETTINGS>['vpc']): boolean =>
  Object.keys(existing).length === 0;

/** Returns what is wrong with settings that fit alone, by setting. */
function crossChecks({ gitlab, vpc, relay, ...settings }: z.output<typeof SETTINGS>, given: SecretNames) {
  const { subnetIds = [], availabilityZones = [] } = vpc;
  const isNew = isNewVpc(vpc);
  const isInside = gitlab.reachedFrom === 'vpc';
  const sizes: readonly number[] = FARGATE_MEMORY_MIB[relay.cpu];
  const checks: readonly (readonly [isWrong: boolean, setting: string, remedy: string])[] = [
    [
      isInside && isNew,
      'gitlab.reachedFrom',
      'a new VPC has no way to a private GitLab; name an existing one in vpc, or set "internet"',
    ],
    [
      isInside && vpc.assignPublicIp === true,
      'gitlab.reachedFrom',
      'functions get no public address, so in public subnets they reach nothing; name private subnets in vpc and leave assignPublicIp away, or set "internet"',
    ],
    [
      settings.edge !== undefined &&
        settings.edge.webhooksDomain === URL.parse(settings.console?.url ?? '')?.hostname,
      'edge.webhooksDomain',
      'it is the domain of console.url, too; give each its own',
    ],
    [!isNew && vpc.id === undefined, 'vpc.id', 'expected the id of the VPC that has the subnets'],
    [!isNew && vpc.cidr !== undefined, 'vpc.cidr', 'an existing VPC has its range; leave it away'],
    [
      !isNew && new Set(availabilityZones).size < 2,
      'vpc.availabilityZones',
      'two relays want two zones; name the zone of each subnet, at least two',
    ],
    [
      subnetIds.length !== availabilityZones.length,
      'vpc.subnetIds',
      `${subnetIds.length} subnets and ${availabilityZones.length} zones; name the zone of each subnet, in the same order`,
    ],
    [
      relay.memoryMiB !== undefined && !sizes.includes(relay.memoryMiB),
      'relay.memoryMiB',
      `expected one of ${sizes.join(', ')}`,
    ],
    [
      relay.answerWithinMs !== undefined && relay.answerWithinMs < relay.deadlineMs,
      'relay.answerWithinMs',
      `expected at least deadlineMs, which is ${relay.deadlineMs}`,
    ],
    [
      settings.watchdog && gitlab.controllerId === undefined,
      'watchdog',
      'it changes the state of one controller: give its number in gitlab.controllerId, or set false',
    ],
    [
      settings.disarmAfterFailedJob && !settings.watchdog,
      'disarmAfterFailedJob',
      'the watchdog does it: set watchdog: true as well, or false',
    ],
    [
      settings.parameters.proxyCredentials !== undefined && gitlab.proxyUrl === undefined,
      'parameters.proxyCredentials',
      'it is for a proxy: name it in gitlab.proxyUrl',
    ],
    ...(settings.region === undefined ? [] : regionMistakes({ ...settings, vpc }, settings.region)).map(
      (mistake) => [true, ...mistake] as const,
    ),
    ...repeatedParameters(
      secretNames(given, gitlab.caParameter),
      secretNames(settings.parameters, gitlab.caParameter),
    ),
  ];
  return checks.filter(([isWrong]) => isWrong);
}

/** One name for two secrets: one program would send the secret of another. @param given - by the file, which can be changed */
function repeatedParameters(given: SecretNames, all: SecretNames) {
  return Object.entries(given).flatMap(([setting, name]) => {
    const [other] = Object.entries(all).find((each) => each[0] !== setting && each[1] === name) ?? [];
    const remedy = `it is the name of ${other}, too; give each secret its own`;
    return name === undefined ? [] : [[other !== undefined, setting, remedy] as const];
  });
}

type SecretNames = Readonly<Record<string, string | undefined>>;

const secretNames = (parameters: SecretNames, caParameter: string | undefined): SecretNames => ({
  ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [`parameters.${name}`, value])),
  'gitlab.caParameter': caParameter,
});

/** Checks a deployment and fills in the defaults that other settings give. */
export const DEPLOYMENT = SETTINGS.transform((given, context) => {
  const { stage, gitlab, vpc, relay } = given;
  const named = (name: string): string => `/tollgate/${stage}/${name}`;
  const parameters = {
    ...given.parameters,
    routerToken: given.parameters.routerToken ?? named('router-token'),
    gitlabToken: given.parameters.gitlabToken ?? named('gitlab-token'),
    controllerToken: given.parameters.controllerToken ?? named('controller-token'),
    webhookSecrets: given.parameters.webhookSecrets ?? named('webhook-secrets'),
    signInSecret: given.parameters.signInSecret ?? named('signin-secret'),
    consoleToken: given.parameters.consoleToken ?? named('console-token'),
  };
  const read = { ...given, parameters };
  for (const [, setting, message] of crossChecks(read, given.parameters))
    context.issues.push({ code: 'custom', input: read, path: setting.split('.'), message });
  const host = URL.parse(gitlab.url)?.hostname ?? '';
  return {
    ...read,
    gitlab: {
      ...gitlab,
      instance: gitlab.instance ?? host,
      routerUrl: gitlab.routerUrl ?? `wss://kas.${host}`,
    },
    vpc: isNewVpc(vpc)
      ? { kind: 'new' as const, cidr: vpc.cidr ?? '10.83.0.0/24' }
      : {
          ...{ kind: 'existing' as const, id: vpc.id ?? '', subnetIds: vpc.subnetIds ?? [] },
          availabilityZones: vpc.availabilityZones ?? [],
          assignPublicIp: vpc.assignPublicIp ?? false,
        },
    relay: { ...relay, memoryMiB: relay.memoryMiB ?? FARGATE_MEMORY_MIB[relay.cpu][0] },
    parameters,
  };
});

export type Settings = z.output<typeof DEPLOYMENT>;

/** `gitlab`, `gitlab.url` … */
type Paths<T> = T extends readonly unknown[]
  ? never
  : T extends object
    ? { [K in keyof T & string]-?: K | `${K}.${Paths<NonNullable<T[K]>>}` }[keyof T & string]
    : never;
type Same<A, B> = [A, B] extends [B, A] ? true : never;
// Props explain exactly the settings that are checked.
true satisfies Same<Paths<Deployment>, Paths<z.input<typeof DEPLOYMENT>>>;

/** Every stack of a deployment needs these. */
export interface DeploymentProps {
  readonly settings: Settings;
  readonly bundlesPath: string;
}

/** In the order in which they are deployed. */
export const stackNames = (stage: string) =>
  [`Tollgate-${stage}-State`, `Tollgate-${stage}-Functions`, `Tollgate-${stage}-Relays`] as const;
