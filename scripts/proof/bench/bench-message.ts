import { benchPlace } from './bench-rules.ts';

const CONTEXT_VARIABLES = [
  'CI_PIPELINE_SOURCE',
  'CI_COMMIT_REF_NAME',
  'CI_COMMIT_BRANCH',
  'CI_DEFAULT_BRANCH',
  'CI_PROJECT_NAME',
  'CI_JOB_STAGE',
];

/** An admission request as the job router sends it. */
export const benchMessage = (jobId: number, { root, group, project } = benchPlace(0)) => ({
  id: jobId,
  job_info: {
    ...{ id: jobId, name: `integration test: [postgres, ${jobId % 8}]`, stage: 'test', user_id: 7 },
    pipeline_id: 8_000_000 + Math.floor(jobId / 50),
    ...{ project_id: project, project_full_path: `root-${root}/team-${group}/service` },
    ...{ namespace_id: group, root_namespace_id: root, tags: ['linux', 'docker', 'medium'] },
  },
  git_info: { ref: 'main', ref_type: 'branch', protected: true },
  runner_info: { id: 12, timeout: 3600, uuid: 'b7a1c9', tags: ['linux', 'docker', 'medium'] },
  variables: Array.from({ length: 30 }, (_, index) => ({
    key: CONTEXT_VARIABLES[index] ?? `APP_SETTING_${index}`,
    value: `a value of some length for variable ${index}`,
    public: index < 20,
  })),
  image: { name: 'registry.example.com/acme/build/node:24' },
  services: [{ name: 'postgres:17', alias: 'db' }],
});
