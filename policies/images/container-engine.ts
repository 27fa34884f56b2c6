/** What runs containers inside a job's container, and needs a privileged one for it. */
export type ContainerEngine = 'docker' | 'podman' | 'kubernetes' | 'buildkit';

/** Distributions that run a whole cluster in one container. */
const CLUSTERS: readonly string[] = ['k3s', 'k3d', 'k0s', 'rke2', 'minikube', 'kicbase', 'microk8s'];

/**
 * Which engine an image holds, the job's own or a service's, judged by its name alone: only an allow list stops somebody
 * who copies the image to a name of their own.
 *
 * The image `docker`, in any registry, passes only with tags that say `cli`: since version 23 its plain tags (`28`,
 * `latest`) are the daemon. `buildkit` passes only with tags that say `rootless`. A digest decides what is pulled,
 * whatever the tag beside it says.
 *
 * @see https://github.com/docker-library/docker/pull/369
 */
export function engineIn(image: string): ContainerEngine | undefined {
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
