/**
 * Whether a service's image looks like a Docker daemon, which needs a privileged container. By its name alone: somebody
 * who copies the image to a name of their own is stopped by an allow list only.
 *
 * Of the image `docker`, in any registry, only tags that say `cli` pass: since version 23 its plain tags (`28`,
 * `latest`) are the daemon. A digest decides what is pulled, whatever the tag beside it says.
 *
 * @see https://github.com/docker-library/docker/pull/369
 */
export function isDockerInDocker(image: string): boolean {
  const [reference = '', digest] = image.toLowerCase().split('@');
  const [name = '', tag = ''] = reference.slice(reference.lastIndexOf('/') + 1).split(':');
  const words = tag.split(/[^a-z0-9]+/);
  if (words.includes('dind')) return true;
  if (name === 'docker') return digest !== undefined || !words.includes('cli');
  return name === 'dind' || name.startsWith('docker-dind') || name.endsWith('-dind');
}
