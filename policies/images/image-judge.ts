import { readWildcard } from '../document/parse-match.ts';
import type { Reading } from '../document/reading.ts';
import type { FieldMissingReason } from '../kinds/rule-kind.ts';
import { memoize } from '../match/remember.ts';
import type { Wildcard } from '../match/wildcard.ts';
import type { ContainerEngine, ImageNotAllowedReason, ImageReason } from './image-text.ts';

export const IMAGE_KEYS: readonly string[] = ['allow', 'deny', 'compare', 'tags', 'docker_in_docker'];

type ImageJudge = (image: string) => readonly (ImageReason | FieldMissingReason)[];

const PATTERNS_MAX = 1_000;

/**
 * Reads {@link IMAGE_KEYS}. Returns undefined if none is set. An empty `allow` allows every image that is
 * not denied; `deny` wins over `allow`.
 *
 * `compare: written` compares as the runner does, `normalised` in every spelling of the same image.
 *
 * The text is compared after variables are put in. If a `$` is left, the image is unknown: no entry of
 * `allow` matches it, and under `deny` or `docker_in_docker: false` alone it is a missing field.
 */
export function readImageJudge(reading: Reading, judged: 'image' | 'service'): ImageJudge | undefined {
  const allowed = reading.at('allow').list('image patterns', PATTERNS_MAX);
  const denied = reading.at('deny').list('image patterns', PATTERNS_MAX);
  const compare = reading.optional('compare', (each) =>
    allowed.length + denied.length === 0
      ? each.refuse('compares nothing: there is neither allow nor deny')
      : each.oneOf('the comparison of images', ['written', 'normalised']),
  );
  const tags = reading.optional('tags', (each) => each.oneOf('a rule for tags', TAG_RULES));
  const deniesEngines = reading.optional('docker_in_docker', (each) => each.boolean()) === false;
  if (allowed.length + denied.length === 0 && !reading.at('tags').isThere && !deniesEngines) return undefined;
  const allow = allowed.flatMap((each) => readAllowed(each) ?? []);
  const deny = denied.flatMap((each) => readWildcard(each) ?? []);
  const service = judged === 'service' ? ({ service: true } as const) : {};
  const isNormalised = compare === 'normalised';
  const judge: ImageJudge = (image) => {
    const notAllowed = imageRefusal(image, allow, deny, isNormalised);
    const floats = tags !== undefined && !meetsTagRule(image, tags);
    const engine = deniesEngines ? engineIn(image) : undefined;
    const isNeeded = deny.length > 0 || deniesEngines;
    const isMissing = isNeeded && !isKnownImage(image) && notAllowed === undefined && engine === undefined;
    const reasons: (ImageReason | FieldMissingReason)[] = [];
    if (engine !== undefined)
      reasons.push({ code: 'PRIVILEGED_DENIED', image, ...(engine !== 'docker' && { engine }) });
    if (isMissing)
      reasons.push({ code: 'FIELD_MISSING', field: judged === 'service' ? 'services' : 'image' });
    if (notAllowed !== undefined) reasons.push({ ...notAllowed, ...service });
    if (floats) reasons.push({ code: 'TAG_NOT_ALLOWED', image, wanted: tags, ...service });
    return reasons;
  };
  const patterns = [...allow, ...deny];
  const isQuick = patterns.length <= QUICK_PATTERNS_MAX && patterns.every(({ isPlain }) => isPlain);
  return isQuick && !isNormalised ? judge : memoize(judge);
}

/** To remember the result for a new image takes as long as some comparisons of strings. */
const QUICK_PATTERNS_MAX = 8;

export const isKnownImage = (image: string): boolean => !image.includes('$');

function readAllowed(reading: Reading): Wildcard | undefined {
  const wildcard = readWildcard(reading);
  if (wildcard === undefined || isKnownImage(wildcard.pattern)) return wildcard;
  return reading.refuse(
    `'${wildcard.pattern}' has a variable and can match nothing: images are compared with their variables put in; write out what it stands for, or '*'`,
  );
}

function imageRefusal(
  image: string,
  allow: readonly Wildcard[],
  deny: readonly Wildcard[],
  isNormalised: boolean,
): ImageNotAllowedReason | undefined {
  const { same, related } =
    isNormalised && isKnownImage(image) ? listSpellings(image) : { same: [image], related: [] };
  const denied = deny.find(({ matches }) => same.some(matches) || related.some(matches));
  const isAllowed =
    allow.length === 0 || (isKnownImage(image) && allow.some(({ matches }) => same.some(matches)));
  if (denied === undefined && isAllowed) return undefined;
  const shared = ({ pattern }: Wildcard): number => sharedStart(image, pattern);
  const nearest = allow.toSorted((a, b) => shared(b) - shared(a)).slice(0, NEAREST_MAX);
  return {
    code: 'IMAGE_NOT_ALLOWED',
    image,
    allowed: nearest.map(({ pattern }) => pattern),
    ...(denied !== undefined && { denied: denied.pattern }),
  };
}

const NEAREST_MAX = 3;

function sharedStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

const CLUSTERS: readonly string[] = ['k3s', 'k3d', 'k0s', 'rke2', 'minikube', 'kicbase', 'microk8s'];

/**
 * Returns the engine in an image of the job or a service, judged by the image name. Only an allow list stops
 * copies under another name.
 *
 * The image `docker`, in any registry, passes only with tags that contain `cli`: since version 23 its plain
 * tags (`28`, `latest`) are the daemon. `buildkit` passes only with tags that contain `rootless`. A digest
 * overrides the tag.
 *
 * @see https://github.com/docker-library/docker/pull/369
 */
const engineIn = memoize((image): ContainerEngine | undefined => {
  const [reference = '', digest] = image.toLowerCase().split('@');
  const components = reference.split('/');
  const [name = '', tag = ''] = (components.at(-1) ?? '').split(':');
  const folder = components.at(-2);
  const [words, tagWords] = [splitWords(name), splitWords(tag)];
  const says = (word: string): boolean => digest === undefined && tagWords.includes(word);

  if (isDind(name, words) || isDind(tag, tagWords)) return 'docker';
  if (name === 'docker' && !says('cli')) return 'docker';
  if (words.includes('podman') || folder === 'podman') return 'podman';
  if (name === 'buildkit' && !says('rootless')) return 'buildkit';
  const isKind = name === 'kind' || folder === 'kindest';
  return isKind || CLUSTERS.some((each) => words.includes(each)) ? 'kubernetes' : undefined;
});

const splitWords = (text: string): readonly string[] => text.split(/[^a-z0-9]+/);

const isDind = (text: string, words: readonly string[]): boolean =>
  words.includes('dind') || text.startsWith('docker-dind') || words.join('-').includes('docker-in-docker');

/** The parts of an image reference as written: no registry, `library/` or `latest` is put in. */
interface ImageReference {
  readonly name: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** `fixed`: a tag that does not float by its name. `digest`: a digest, which cannot float. */
const TAG_RULES = ['fixed', 'digest'] as const;

/** Name, tag and digest with room for the names of variables; longer is no reference and bounds every pattern here. */
const CHARACTERS_MAX = 1_024;
const NAME_CHARACTERS_MAX = 255;
const HEX_DIGITS = new Map(Object.entries({ sha256: 64, sha384: 96, sha512: 128, blake3: 64 }));

/** Variables that the runner expands. Any other `$` makes the reference invalid. */
const VARIABLE = /\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)/g;
const REGISTRY =
  /^(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*)(?::\d+)?$/;
const COMPONENT = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^([a-z0-9]+(?:[+._-][a-z0-9]+)*):([A-Za-z0-9=_-]{32,})$/;

/**
 * Reads `[registry[:port]/]name[:tag][@algorithm:digest]`; undefined for what no image tool would take, e.g. large
 * letters in the name, empty parts or a digest cut short.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/descriptor.md#digests
 */
export const readImageReference = memoize((text): ImageReference | undefined => {
  if (text.length > CHARACTERS_MAX) return undefined;
  const [rest = '', digest, ...more] = text.split('@');
  if (more.length > 0 || (digest !== undefined && !isDigest(digest))) return undefined;
  // A colon before the last slash stands before a port.
  const colon = rest.lastIndexOf(':') > rest.lastIndexOf('/') ? rest.lastIndexOf(':') : rest.length;
  const name = rest.slice(0, colon);
  const tag = colon < rest.length ? rest.slice(colon + 1) : undefined;
  if (!isName(expanded(name)) || (tag !== undefined && !TAG.test(expanded(tag)))) return undefined;
  return { name, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
});

/** True for any value of its variables: they may stand in the name, but a tag with one may become `latest`. */
export function meetsTagRule(image: string, wanted: (typeof TAG_RULES)[number]): boolean {
  const reference = readImageReference(image);
  if (reference === undefined) return false;
  const { tag, digest } = reference;
  if (digest !== undefined) return true;
  return wanted === 'fixed' && tag !== undefined && !tag.includes('$') && tag.toLowerCase() !== 'latest';
}

/** As it may look once expanded: a digit fits wherever a variable may stand, in a port, too. */
const expanded = (text: string): string => text.replace(VARIABLE, '0');

function isName(name: string): boolean {
  if (name.length > NAME_CHARACTERS_MAX) return false;
  const { registry, path } = registryAndPath(name);
  if (registry !== undefined && !REGISTRY.test(registry)) return false;
  return path.split('/').every((each) => COMPONENT.test(each));
}

/** `localhost/a`, `host:5000/a`, `example.com/a` and `HOST/a` name a registry, `library/a` does not. */
function registryAndPath(name: string): { readonly registry?: string; readonly path: string } {
  const [first = '', ...path] = name.split('/');
  const isRegistry = path.length > 0 && (first === 'localhost' || /[.:A-Z]/.test(first));
  return isRegistry ? { registry: first, path: path.join('/') } : { path: name };
}

function isDigest(text: string): boolean {
  const [, algorithm = '', encoded] = DIGEST.exec(text) ?? [];
  if (encoded === undefined) return false;
  const digits = HEX_DIGITS.get(algorithm);
  return digits === undefined || (encoded.length === digits && /^[0-9a-f]+$/.test(encoded));
}

const HUB_NAMES: readonly string[] = [
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
];
const OFFICIAL = 'library/';
/** Stands for the unknown tag of an image with a digest: wildcards match it, letters do not, and no tag contains it. */
const ANY_TAG = '\uFFFF';

/**
 * Returns all spellings of an image as Docker and containerd read them (`same`), and broader names (`related`): with a
 * digest, its tag alone, and any tag. No registry means Docker Hub, which has several names, and no folder there means
 * `library/`. A registry ignores case and port 443. Without tag and digest the tag is `latest`; a digest overrides the
 * tag. A text that is not a reference is spelled as it is, and in lower case.
 *
 * @see https://github.com/distribution/reference/blob/main/normalize.go
 */
const listSpellings = memoize((image) => {
  const reference = readImageReference(image);
  if (reference === undefined) return { same: [image], related: [image.toLowerCase()] };
  const { tag, digest } = reference;
  const names = listNames(reference.name);
  const written = (endings: readonly string[]): readonly string[] =>
    names.flatMap((name) => endings.map((ending) => `${name}${ending}`));
  if (digest !== undefined)
    return {
      same: written([`@${digest}`, ...(tag === undefined ? [] : [`:${tag}@${digest}`])]),
      related: written([`:${tag ?? ANY_TAG}`, ...(tag === undefined ? [''] : [`:${ANY_TAG}`])]),
    };
  const isLatest = tag === undefined || tag === 'latest';
  return { same: written(isLatest ? ['', ':latest'] : [`:${tag}`]), related: [] };
});

function listNames(name: string): readonly string[] {
  const { registry, path } = registryAndPath(name);
  const bare = registry?.toLowerCase().replace(/:443$/, '');
  if (bare !== undefined && !HUB_NAMES.includes(bare)) {
    const hosts = bare.includes(':') ? [bare] : [bare, `${bare}:443`];
    return hosts.map((each) => `${each}/${path}`);
  }
  const short = path.startsWith(OFFICIAL) ? path.slice(OFFICIAL.length) : path;
  const paths = short.includes('/') ? [path] : [short, `${OFFICIAL}${short}`];
  return ['', ...HUB_NAMES.map((each) => `${each}/`)].flatMap((prefix) => paths.map((each) => prefix + each));
}
