import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ExpandedJob, PipelineJob } from './expanded-pipeline.ts';

/** Stands for every secret, so that a test can look for it wherever secrets must not be. */
export const NOT_A_SECRET = 'glcbt-local-not-a-secret';

/** The variables that GitLab sends with a job. Identity comes first; an allowlist must let the rest pass or stop it. */
export function jobVariables(
  job: PipelineJob & Pick<ExpandedJob, 'environment'>,
  jobId: number,
  run: PipelineRun,
): Variable[] {
  const { project } = run;
  const namespacePath = project.path.slice(0, project.path.lastIndexOf('/'));
  const predefined = {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_JOB_ID: jobId,
    CI_JOB_NAME: job.name,
    CI_JOB_STAGE: job.stage,
    ...withoutAbsent({ CI_JOB_IMAGE: job.image, CI_ENVIRONMENT_NAME: job.environment }),
    CI_PIPELINE_ID: run.pipelineId,
    CI_PIPELINE_SOURCE: run.source,
    CI_PROJECT_ID: project.id,
    CI_PROJECT_PATH: project.path,
    CI_PROJECT_NAMESPACE: namespacePath,
    CI_PROJECT_ROOT_NAMESPACE: namespacePath.split('/')[0] ?? namespacePath,
    CI_PROJECT_VISIBILITY: project.visibility ?? 'private',
    CI_COMMIT_REF_NAME: run.ref,
    CI_COMMIT_BRANCH: run.ref,
    CI_COMMIT_REF_PROTECTED: String(run.refProtected),
    CI_DEFAULT_BRANCH: 'main',
    GITLAB_USER_ID: run.userId,
  };
  const secrets = {
    CI_JOB_TOKEN: NOT_A_SECRET,
    CI_REGISTRY_PASSWORD: NOT_A_SECRET,
    CI_REPOSITORY_URL: `https://gitlab-ci-token:${NOT_A_SECRET}@gitlab.example.com/${project.path}.git`,
  };
  const raw = new Set(job.rawVariables);
  return [
    ...Object.entries(predefined).map(([key, value]) => variable(key, String(value), { public: true })),
    ...Object.entries(secrets).map(([key, value]) => variable(key, value, { masked: true })),
    variable('KUBECONFIG', NOT_A_SECRET, { file: true }),
    // After the predefined ones, as GitLab sends them: a file that sets CI_PROJECT_ID makes a duplicate.
    ...Object.entries(job.variables).map(([key, value]) =>
      variable(key, value, { public: true, raw: raw.has(key) }),
    ),
  ];
}

type Variable = ReturnType<typeof variable>;

const UNFLAGGED = { public: false, file: false, masked: false, raw: false };

const variable = (key: string, value: string, flags: Partial<typeof UNFLAGGED>) => ({
  ...{ key, value, ...UNFLAGGED, ...flags },
});

export interface PipelineProject {
  readonly id: number;
  readonly path: string;
  readonly namespaceId: number;
  readonly rootNamespaceId: number;
  readonly visibility?: string;
}

export type PipelineRun = ReturnType<typeof newPipelineRun>;

const USERS = 24;
const SOURCES = ['push', 'push', 'merge_request_event', 'schedule', 'web'] as const;

export function newPipelineRun(project: PipelineProject, pipelineId: number, random: () => number) {
  const source = pick(SOURCES, random);
  const onMain = source === 'schedule' || random() < 0.4;
  const ref = onMain ? 'main' : `feature/${Math.floor(random() * 900) + 100}`;
  const userId = 1_000 + Math.floor(random() * USERS);
  return { project, pipelineId, source, ref, refProtected: onMain, userId };
}

export function pick<T>(from: readonly T[], random: () => number): T {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new Error('nothing to pick from: the list is empty');
  return one;
}
