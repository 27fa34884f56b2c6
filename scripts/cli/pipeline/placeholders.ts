import type { Variables } from './variables.ts';

/** Those whose every value looks the same to a pattern, or that hardly any GitLab changes: a verdict may rest on them. */
export const ALIKE_EVERYWHERE: Variables = {
  CI_COMMIT_SHA: '0123456789abcdef0123456789abcdef01234567',
  CI_COMMIT_SHORT_SHA: '01234567',
  CI_TEMPLATE_REGISTRY_HOST: 'registry.gitlab.com',
};

/** Placeholders for GitLab's variables in names. They stand for unknown values, so rules ignore them. */
export const PLACEHOLDERS: Variables = {
  ...ALIKE_EVERYWHERE,
  CI_REGISTRY: 'registry.example.com',
  CI_REGISTRY_IMAGE: 'registry.example.com/acme/project',
  CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX: 'gitlab.example.com/acme/dependency_proxy/containers',
  CI_SERVER_HOST: 'gitlab.example.com',
  CI_SERVER_FQDN: 'gitlab.example.com',
  CI_DEFAULT_BRANCH: 'main',
  CI_COMMIT_BRANCH: 'main',
  CI_COMMIT_REF_NAME: 'main',
  CI_COMMIT_REF_SLUG: 'main',
};
