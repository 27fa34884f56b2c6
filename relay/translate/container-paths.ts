/** Where an image or a service keeps what its container is to be, from the message of the image on. */
export const PULL_POLICY: readonly string[] = ['pull_policy', 'pull_policies'];
export const DOCKER_USER: readonly string[] = ['executor_opts.docker.user', 'docker.user'];
export const KUBERNETES_USER: readonly string[] = ['executor_opts.kubernetes.user', 'kubernetes.user'];
