import { readWildcard } from '../document/parse-match.ts';
import type { Reading } from '../document/reading.ts';
import type { FieldMissingReason } from '../kinds/rule-kind.ts';
import { remembering } from '../match/remember.ts';
import type { Wildcard } from '../match/wildcard.ts';
import { meetsTagRule, spellingsOf, TAG_RULES } from './image-reference.ts';
import type { ContainerEngine, ImageNotAllowedReason, ImageReason } from './image-text.ts';

/**
 * Keys of the rules that judge images: which ones are allowed, which denied, how both are compared, what their tags must
 * be like, and whether they may hold an engine that runs containers of its own.
 */
export const IMAGE_KEYS: readonly string[] = ['allow', 'deny', 'compare', 'tags', 'docker_in_docker'];

type ImageJudge = (image: string) => readonly (ImageReason | FieldMissingReason)[];

const PATTERNS_MAX = 1_000;
const NOTHING: ReturnType<ImageJudge> = [];

/** `written`: as the runner does. `normalised`: in every spelling of the same image. */
const COMPARISONS = ['written', 'normalised'] as const;

type Comparison = (typeof COMPARISONS)[number];

/**
 * Reads {@link IMAGE_KEYS}. Returns undefined if none is set. An empty `allow` allows every image that is
 * not denied; `deny` wins over `allow`.
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
      : each.oneOf('how images are compared', COMPARISONS),
  );
  const tags = reading.optional('tags', (each) => each.oneOf('a rule for tags', TAG_RULES));
  const deniesEngines = reading.optional('docker_in_docker', (each) => each.boolean()) === false;
  if (allowed.length + denied.length === 0 && !reading.at('tags').isThere && !deniesEngines) return undefined;
  const allow = allowed.flatMap((each) => readAllowed(each) ?? []);
  const deny = denied.flatMap((each) => readWildcard(each) ?? []);
  const service = judged === 'service' ? ({ service: true } as const) : {};
  return remembering((image) => {
    const notAllowed = imageRefusal(image, allow, deny, compare);
    const floats = tags !== undefined && !meetsTagRule(image, tags);
    const engine = deniesEngines ? engineIn(image) : undefined;
    const isUntold = (deny.length > 0 || deniesEngines) && !isKnownImage(image);
    const untold = isUntold && notAllowed === undefined && engine === undefined;
    if (notAllowed === undefined && !floats && !untold && engine === undefined) return NOTHING;
    const reasons: (ImageReason | FieldMissingReason)[] = [];
    if (engine !== undefined)
      reasons.push({ code: 'PRIVILEGED_DENIED', image, ...(engine !== 'docker' && { engine }) });
    if (untold) reasons.push({ code: 'FIELD_MISSING', field: judged === 'service' ? 'services' : 'image' });
    if (notAllowed !== undefined) reasons.push({ ...notAllowed, ...service });
    if (floats) reasons.push({ code: 'TAG_NOT_ALLOWED', image, wanted: tags, ...service });
    return reasons;
  });
}

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
  compare: Comparison | undefined,
): ImageNotAllowedReason | undefined {
  const { same, related } =
    compare === 'normalised' && isKnownImage(image) ? spellingsOf(image) : { same: [image], related: [] };
  const denied = deny.find(({ matches }) => same.some(matches) || related.some(matches));
  const isAllowed =
    allow.length === 0 || (isKnownImage(image) && allow.some(({ matches }) => same.some(matches)));
  if (denied === undefined && isAllowed) return undefined;
  const patterns = allow.map((each) => each.pattern);
  return {
    code: 'IMAGE_NOT_ALLOWED',
    image,
    allowed: nearestPatterns(image, patterns),
    ...(denied !== undefined && { denied: denied.pattern }),
  };
}

const NEAREST_MAX = 3;

const nearestPatterns = (text: string, patterns: readonly string[]): readonly string[] =>
  patterns.toSorted((a, b) => sharedStart(text, b) - sharedStart(text, a)).slice(0, NEAREST_MAX);

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
function engineIn(image: string): ContainerEngine | undefined {
  const [reference = '', digest] = image.toLowerCase().split('@');
  const components = reference.split('/');
  const [name = '', tag = ''] = (components.at(-1) ?? '').split(':');
  const folder = components.at(-2);
  const [words, tagWords] = [wordsOf(name), wordsOf(tag)];
  const says = (word: string): boolean => digest === undefined && tagWords.includes(word);

  if (isDind(name, words) || isDind(tag, tagWords)) return 'docker';
  if (name === 'docker' && !says('cli')) return 'docker';
  if (words.includes('podman') || folder === 'podman') return 'podman';
  if (name === 'buildkit' && !says('rootless')) return 'buildkit';
  const isKind = name === 'kind' || folder === 'kindest';
  return isKind || CLUSTERS.some((each) => words.includes(each)) ? 'kubernetes' : undefined;
}

const wordsOf = (text: string): readonly string[] => text.split(/[^a-z0-9]+/);

const isDind = (text: string, words: readonly string[]): boolean =>
  words.includes('dind') || text.startsWith('docker-dind') || words.join('-').includes('docker-in-docker');
