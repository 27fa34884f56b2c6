import type { Variables } from '../../pipeline/variables.ts';
import type { Place } from '../evaluation/place-flags.ts';

/** GitLab's own variables as far as the flags tell them: files build image and environment names from them. */
export function predefinedOf({ ref, projectPath, projectId, pipelineSource }: Place): Variables {
  return {
    ...(ref !== undefined && {
      CI_COMMIT_REF_NAME: ref,
      CI_COMMIT_BRANCH: ref,
      CI_COMMIT_REF_SLUG: slug(ref),
    }),
    ...(projectPath !== undefined && projectVariables(projectPath)),
    ...(projectId !== undefined && { CI_PROJECT_ID: String(projectId) }),
    ...(pipelineSource !== undefined && { CI_PIPELINE_SOURCE: pipelineSource }),
  };
}

function projectVariables(path: string): Variables {
  const slash = path.lastIndexOf('/');
  return {
    CI_PROJECT_PATH: path,
    CI_PROJECT_NAMESPACE: path.slice(0, Math.max(0, slash)),
    CI_PROJECT_NAME: path.slice(slash + 1),
    CI_PROJECT_ROOT_NAMESPACE: path.split('/')[0] ?? path,
    CI_REGISTRY_IMAGE: `registry.example.com/${path.toLowerCase()}`,
  };
}

/** https://docs.gitlab.com/ci/variables/predefined_variables/ CI_COMMIT_REF_SLUG */
const slug = (ref: string): string =>
  ref
    .toLowerCase()
    .slice(0, 63)
    .replace(/[^a-z0-9]/g, '-')
    .replace(/^-+|-+$/g, '');
