import { isRecord } from '../../../policies/document/reading.ts';
import type { JobQuestion } from '../router/messages.ts';
import type { LocalRunner, NewJob } from './jobs.ts';

/** The job a router's question is about, and the runner that wants it. */
export function jobFromQuestion(question: JobQuestion): { job: NewJob; runner: LocalRunner } {
  const info = isRecord(question.job_info) ? question.job_info : {};
  const git = isRecord(question.git_info) ? question.git_info : {};
  const runner = isRecord(question.runner_info) ? question.runner_info : {};
  const environment = variable(question, 'CI_ENVIRONMENT_NAME');
  const jobTags = texts(info.tags);
  return {
    job: {
      id: number(question.id, 'id'),
      projectId: number(info.project_id, 'job_info.project_id'),
      projectPath: text(info.project_full_path),
      name: text(info.name),
      stage: text(info.stage),
      pipelineId: number(info.pipeline_id, 'job_info.pipeline_id'),
      userId: number(info.user_id, 'job_info.user_id'),
      ref: text(git.ref),
      tags: jobTags,
      ...(environment !== undefined && { environment }),
    },
    runner: { id: number(runner.id, 'runner_info.id'), tags: texts(runner.tags) },
  };
}

function number(value: unknown, name: string): number {
  if (typeof value === 'number') return value;
  throw new Error(`${name} of the question is no number; the local GitLab needs it to know the job again`);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

function variable(question: JobQuestion, key: string): string | undefined {
  const variables = Array.isArray(question.variables) ? question.variables : [];
  const found = variables.find((one: unknown) => isRecord(one) && one.key === key);
  return isRecord(found) && typeof found.value === 'string' ? found.value : undefined;
}
