/**
 * The parts of an image reference, as written: variables are not yet expanded when GitLab asks, so `tag` may hold one.
 * No registry, `library/` or `latest` is put in.
 */
export interface ImageReference {
  /** Includes the registry and its port, if it names one. */
  readonly name: string;
  readonly tag?: string;
  /** Includes its algorithm: `sha256:…`. Always written out, never a variable. */
  readonly digest?: string;
}

/** What a tag rule wants: a tag that does not float by its name, or a digest, which cannot float at all. */
type TagRule = 'fixed' | 'digest';

export const TAG_RULES: readonly TagRule[] = ['fixed', 'digest'];

/** Name, tag and digest with room for the names of variables; longer is no reference and bounds every pattern here. */
const CHARACTERS_MAX = 1_024;
/** The longest repository with its registry that image tools take. */
const NAME_CHARACTERS_MAX = 255;
/** Digests have so many hexadecimal digits; only the shape can be told of other algorithms. */
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
  ['blake3', 64],
]);

/** What the runner expands. Any other `$` is no part of a reference: the runner would take characters away after it. */
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

/**
 * Whether it is certain that an image meets a tag rule, whatever its variables turn out to be. They may stand in the
 * name, since what follows the last colon then still is the tag; a tag with a variable in it may become `latest`.
 */
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
