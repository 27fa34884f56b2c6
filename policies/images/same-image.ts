import { readImageReference } from './image-reference.ts';

/** Names of Docker Hub. An image without a registry is pulled from there. */
const HUB_NAMES: readonly string[] = [
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
];
const HUB: ReadonlySet<string> = new Set(HUB_NAMES);
/** The folder of images that Docker Hub names without one. */
const OFFICIAL = 'library/';
const HTTPS_PORT = ':443';
/**
 * Stands for the tag of an image that is named by its digest: which one it has nobody knows, so wildcards match it and
 * letters do not. No tag may hold the character.
 */
const ANY_TAG = '\uFFFF';

/** The texts that name one image. */
interface Spellings {
  /** Whatever of them is pulled, it is the same. */
  readonly same: readonly string[];
  /** Names of what the image is one of: with a digest, its tag by itself, and any tag. */
  readonly related: readonly string[];
}

/**
 * All ways to write an image, as Docker and containerd read them: no registry is Docker Hub, which has several names, and
 * no folder there is `library/`; a registry is the same in large letters and with port 443; no tag and no digest is
 * `latest`; beside a digest the tag does not count. What is no reference is spelled as it is, and in small letters.
 *
 * @see https://github.com/distribution/reference/blob/main/normalize.go
 */
export function spellingsOf(image: string): Spellings {
  const reference = readImageReference(image);
  if (reference === undefined) return { same: [image], related: [image.toLowerCase()] };
  const { tag, digest } = reference;
  const names = namesOf(reference.name);
  const written = (endings: readonly string[]): readonly string[] =>
    names.flatMap((name) => endings.map((ending) => `${name}${ending}`));
  if (digest !== undefined)
    return {
      same: written([`@${digest}`, ...(tag === undefined ? [] : [`:${tag}@${digest}`])]),
      related: written([`:${tag ?? ANY_TAG}`, ...(tag === undefined ? [''] : [`:${ANY_TAG}`])]),
    };
  const isLatest = tag === undefined || tag === 'latest';
  return { same: written(isLatest ? ['', ':latest'] : [`:${tag}`]), related: [] };
}

/** The repository under each name of its registry. */
function namesOf(name: string): readonly string[] {
  const slash = name.indexOf('/');
  const first = slash === -1 ? '' : name.slice(0, slash);
  const isRegistry = first === 'localhost' || /[.:A-Z]/.test(first);
  const host = isRegistry ? first.toLowerCase() : '';
  const path = isRegistry ? name.slice(slash + 1) : name;
  const bare = host.endsWith(HTTPS_PORT) ? host.slice(0, -HTTPS_PORT.length) : host;
  if (isRegistry && !HUB.has(bare)) {
    const hosts = bare.includes(':') ? [bare] : [bare, `${bare}${HTTPS_PORT}`];
    return hosts.map((each) => `${each}/${path}`);
  }
  const short = path.startsWith(OFFICIAL) ? path.slice(OFFICIAL.length) : path;
  const paths = short.includes('/') ? [path] : [short, `${OFFICIAL}${short}`];
  return ['', ...HUB_NAMES.map((each) => `${each}/`)].flatMap((prefix) => paths.map((each) => prefix + each));
}
