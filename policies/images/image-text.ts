import { oneLine, quoted, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';

export type ContainerEngine = 'docker' | 'podman' | 'kubernetes' | 'buildkit';

export type ImageReason = ImageNotAllowedReason | ImageTagReason | PrivilegedReason;

export interface ImageNotAllowedReason {
  readonly code: 'IMAGE_NOT_ALLOWED';
  readonly image: string;
  readonly allowed: readonly string[];
  readonly denied?: string;
  readonly service?: true;
}

interface ImageTagReason {
  readonly code: 'TAG_NOT_ALLOWED';
  readonly image: string;
  readonly wanted: 'fixed' | 'digest';
  readonly service?: true;
}

interface PrivilegedReason {
  readonly code: 'PRIVILEGED_DENIED';
  readonly image: string;
  readonly engine?: Exclude<ContainerEngine, 'docker'>;
}

const HEADLINE_IMAGE_CHARACTERS_MAX = 60;
const IMAGE_CHARACTERS_MAX = 200;
const PATTERN_CHARACTERS_MAX = 80;

type NamedImage = { readonly image: string; readonly service?: true };

export const imageNotAllowed: ReasonText<ImageNotAllowedReason> = {
  headline: (reason) => `${headlineImage(reason)} is not allowed here.`,
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
};

const headlineImage = ({ image, service }: NamedImage): string =>
  `${service ? 'Service' : 'Container'} image ${quoted(image, HEADLINE_IMAGE_CHARACTERS_MAX)}`;

export const tagNotAllowed: ReasonText<ImageTagReason> = {
  headline: (reason) =>
    reason.wanted === 'digest'
      ? `${headlineImage(reason)} must be pinned by its digest here.`
      : `${headlineImage(reason)} needs a tag other than "latest" here.`,
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
};

export const privilegedDenied: ReasonText<PrivilegedReason> = {
  headline: ({ image, engine }) =>
    `${ENGINES[engine ?? 'docker'].what} (image ${quoted(image, 40)}) needs a privileged container: not allowed here.`,
  line: ({ image, engine }) =>
    `image ${quoted(image, IMAGE_CHARACTERS_MAX)} runs ${ENGINES[engine ?? 'docker'].what}`,
  advice: ({ engine }) => [`Retrying will fail again. ${ENGINES[engine ?? 'docker'].instead}`],
};

const BUILD_OTHERWISE =
  'Build images without Docker in Docker, e.g. with Buildah or rootless BuildKit; docker:cli has the command alone.';

const ENGINES: Readonly<Record<ContainerEngine, { readonly what: string; readonly instead: string }>> = {
  docker: { what: 'Docker in Docker', instead: BUILD_OTHERWISE },
  podman: { what: 'Podman', instead: BUILD_OTHERWISE },
  buildkit: { what: 'BuildKit with root', instead: 'Use a rootless tag of BuildKit.' },
  kubernetes: {
    what: 'A cluster in a container',
    instead: 'Test against a cluster that runs outside of the job.',
  },
};

const imageText = ({ image, service }: NamedImage): string =>
  `${service ? 'service image' : 'image'} ${quoted(image, IMAGE_CHARACTERS_MAX)}`;

const variableAdvice = (image: string): readonly string[] =>
  image.includes('$')
    ? [
        'The value of its variable is unknown before the job runs (masked, a file, a secret, or not set): write the name out.',
      ]
    : [];
