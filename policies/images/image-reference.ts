/** The parts of an image reference as written: no registry, `library/` or `latest` is put in. */
export interface ImageReference {
  readonly name: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** `fixed`: a tag that does not float by its name. `digest`: a digest, which cannot float. */
type TagRule = 'fixed' | 'digest';

export const TAG_RULES: readonly TagRule[] = ['fixed', 'digest'];

/** Name, tag and digest with room for the names of variables; longer is no reference and bounds every pattern here. */
const CHARACTERS_MAX = 1_024;
const NAME_CHARACTERS_MAX = 255;
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
  ['blake3', 64],
]);

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
export function readImageReference(text: string): ImageReference | undefined {
  if (text.length > CHARACTERS_MAX) return undefined;
  const [rest = '', digest, ...more] = text.split('@');
  if (more.length > 0 || (digest !== undefined && !isDigest(digest))) return undefined;
  // A colon before the last slash stands before a port.
  const colon = rest.lastIndexOf(':') > rest.lastIndexOf('/') ? rest.lastIndexOf(':') : rest.length;
  const name = rest.slice(0, colon);
  const tag = colon < rest.length ? rest.slice(colon + 1) : undefined;
  if (!isName(expanded(name)) || (tag !== undefined && !TAG.test(expanded(tag)))) return undefined;
  return { name, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

/** True for any value of its variables: they may stand in the name, but a tag with one may become `latest`. */
export function meetsTagRule(image: string, wanted: TagRule): boolean {
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
  const [first = '', ...path] = name.split('/');
  // `localhost/a`, `host:5000/a`, `example.com/a` and `HOST/a` name a registry, `library/a` does not.
  const namesRegistry = path.length > 0 && (first === 'localhost' || /[.:A-Z]/.test(first));
  if (namesRegistry) return REGISTRY.test(first) && path.every((each) => COMPONENT.test(each));
  return [first, ...path].every((each) => COMPONENT.test(each));
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
const HUB: ReadonlySet<string> = new Set(HUB_NAMES);
const OFFICIAL = 'library/';
const HTTPS_PORT = ':443';
/** Stands for the unknown tag of an image with a digest: wildcards match it, letters do not, and no tag contains it. */
const ANY_TAG = '\uFFFF';

interface Spellings {
  readonly same: readonly string[];
  /** Broader names of the image: with a digest, its tag alone, and any tag. */
  readonly related: readonly string[];
}

/**
 * Returns all spellings of an image as Docker and containerd read them. No registry means Docker Hub, which
 * has several names, and no folder there means `library/`. A registry ignores case and port 443. Without tag
 * and digest the tag is `latest`; a digest overrides the tag. A text that is not a reference is spelled as
 * it is, and in lower case.
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
