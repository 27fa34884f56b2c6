import type { ContainerEngine } from '../../images/container-engine.ts';
import { listText } from '../list-text.ts';
import { oneLine, quoted, shortened } from '../plain-text.ts';
import type { AdviceContext, ReasonText, Told } from '../reason-text.ts';

const HEADLINE_IMAGE_CHARACTERS_MAX = 60;
const IMAGE_CHARACTERS_MAX = 200;
const PATTERN_CHARACTERS_MAX = 80;

type NamedImage = { readonly image: string; readonly service?: true };

export const imageNotAllowed: ReasonText<Told<'IMAGE_NOT_ALLOWED'>> = {
  headline: (reason) => imageHeadline(reason),
  discreetHeadline: (reason) => imageHeadline(reason),
  line: (reason) => {
    const { denied } = reason;
    const why =
      denied === undefined
        ? 'matches no allowed pattern'
        : `is denied by ${shortened(oneLine(denied), PATTERN_CHARACTERS_MAX)}`;
    return `${imageText(reason)} ${why}`;
  },
  advice: ({ image, allowed }, { disclosure }) => {
    const patterns = allowed.map((each) => shortened(oneLine(each), PATTERN_CHARACTERS_MAX));
    const use =
      disclosure === 'none' || patterns.length === 0
        ? 'Use another image.'
        : `Use an allowed image; closest: ${patterns.join(' , ')}`;
    return [`Retrying will fail again. ${use}`, ...variableAdvice(image)];
  },
  faultless: false,
};

const imageHeadline = ({ image, service }: NamedImage): string =>
  `${service ? 'Service' : 'Container'} image ${quoted(image, HEADLINE_IMAGE_CHARACTERS_MAX)} is not allowed here.`;

export const tagNotAllowed: ReasonText<Told<'TAG_NOT_ALLOWED'>> = {
  headline: (reason) => tagHeadline(reason),
  discreetHeadline: (reason) => tagHeadline(reason),
  line: (reason) =>
    reason.wanted === 'digest'
      ? `${imageText(reason)} has no digest`
      : `${imageText(reason)} has the tag "latest", or none, which means the same`,
  advice: ({ image, wanted }) => [
    wanted === 'digest'
      ? 'Retrying will fail again. Write the image as name@sha256:…; "docker pull" and the registry show the digest.'
      : 'Retrying will fail again. Name the version to use as the tag, as in "ruby:3.4".',
    ...variableAdvice(image),
  ],
  faultless: false,
};

function tagHeadline({ image, service, wanted }: Told<'TAG_NOT_ALLOWED'>): string {
  const named = `${service ? 'Service' : 'Container'} image ${quoted(image, HEADLINE_IMAGE_CHARACTERS_MAX)}`;
  return wanted === 'digest'
    ? `${named} must be pinned by its digest here.`
    : `${named} needs a tag other than "latest" here.`;
}

export const serviceLimit: ReasonText<Told<'SERVICE_LIMIT'>> = {
  headline: ({ services, servicesMax }) =>
    servicesMax === 0
      ? `This job has ${servicesText(services)}; none are allowed here.`
      : `This job has ${servicesText(services)}; at most ${servicesMax} ${servicesMax === 1 ? 'is' : 'are'} allowed here.`,
  discreetHeadline: () => 'This job has more services than are allowed here.',
  line: ({ services, servicesMax }) => `${servicesText(services)}, at most ${servicesMax}`,
  advice: () => [
    'Retrying will fail again. Remove services from the job; "default:" and "extends:" may bring some, too.',
  ],
  faultless: false,
};

const servicesText = (services: number): string => (services === 1 ? '1 service' : `${services} services`);

export const privilegedDenied: ReasonText<Told<'PRIVILEGED_DENIED'>> = {
  headline: (reason) => privilegedHeadline(reason),
  discreetHeadline: (reason) => privilegedHeadline(reason),
  line: ({ image, engine }) =>
    `image ${quoted(image, IMAGE_CHARACTERS_MAX)} runs ${ENGINES[engine ?? 'docker'].name} in a privileged container`,
  advice: ({ image, engine }) => [
    `Retrying will fail again. ${ENGINES[engine ?? 'docker'].instead}`,
    ...(engine === undefined && !image.includes('dind')
      ? ['For the docker command alone, a tag that says "cli" is enough.']
      : []),
  ],
  faultless: false,
};

const BUILD_OTHERWISE = 'Build images without Docker in Docker, e.g. with Buildah or rootless BuildKit.';

const ENGINES: Readonly<
  Record<ContainerEngine, { readonly what: string; readonly name: string; readonly instead: string }>
> = {
  docker: { what: 'Docker in Docker', name: 'Docker', instead: BUILD_OTHERWISE },
  podman: { what: 'Podman', name: 'Podman', instead: BUILD_OTHERWISE },
  buildkit: { what: 'BuildKit with root', name: 'BuildKit', instead: 'Use a rootless tag of BuildKit.' },
  kubernetes: {
    what: 'A cluster in a container',
    name: 'Kubernetes',
    instead: 'Test against a cluster that runs outside of the job.',
  },
};

const privilegedHeadline = ({ image, engine }: Told<'PRIVILEGED_DENIED'>): string =>
  `${ENGINES[engine ?? 'docker'].what} (image ${quoted(image, 40)}) needs a privileged container: not allowed here.`;

export const pullPolicyNotAllowed: ReasonText<Told<'PULL_POLICY_NOT_ALLOWED'>> = {
  headline: (reason) => pullPolicyHeadline(reason),
  discreetHeadline: (reason) => pullPolicyHeadline(reason),
  line: ({ asked, allowed, service }) => {
    const whose = service === undefined ? 'image' : `service image ${quoted(service, IMAGE_CHARACTERS_MAX)}`;
    const instead = allowed.length === 0 ? 'none is allowed' : `allowed: ${listText(allowed, 'or')}`;
    if (asked.length === 0) return `no pull policy of the ${whose}; ${instead}`;
    return `pull policy ${quotedList(asked)} of the ${whose}; ${instead}`;
  },
  advice: (reason, context) => [`Retrying will fail again. ${pullPolicyRemedy(reason, context)}`],
  faultless: false,
};

function pullPolicyHeadline({ asked, service }: Told<'PULL_POLICY_NOT_ALLOWED'>): string {
  const of = service === undefined ? 'of this job' : `of service ${quoted(service, 30)}`;
  if (asked.length === 0) return `A pull policy ${of} must be named here.`;
  const named = shortened(quotedList(asked), 40);
  return asked.length === 1
    ? `Pull policy ${named} ${of} is not allowed here.`
    : `Pull policies ${named} ${of} are not allowed here.`;
}

const quotedList = (entries: readonly string[]): string =>
  listText(
    entries.map((each) => quoted(each, 20)),
    'and',
  );

function pullPolicyRemedy(
  { asked, allowed, service }: Told<'PULL_POLICY_NOT_ALLOWED'>,
  { disclosure }: AdviceContext,
): string {
  const key = service === undefined ? '"image:pull_policy" of the job' : '"pull_policy" of the service';
  if (disclosure === 'none') return `${asked.length === 0 ? 'Set' : 'Change'} ${key}.`;
  return allowed.length === 0 ? `Remove ${key}.` : `Set ${key} to ${listText(allowed, 'or')}.`;
}

const imageText = ({ image, service }: NamedImage): string =>
  `${service ? 'service image' : 'image'} ${quoted(image, IMAGE_CHARACTERS_MAX)}`;

/** Where a variable is left, its value may not be shown or did not come. */
const variableAdvice = (image: string): readonly string[] =>
  image.includes('$')
    ? [
        'What its variable holds cannot be told before the job runs (masked, a file, a secret, or not set): write the name out.',
      ]
    : [];
