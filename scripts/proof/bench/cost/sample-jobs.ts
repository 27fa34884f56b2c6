/** Jobs as they come, of a few companies' projects: what is measured is measured on these. */
import type { Rules } from '../../../../functions/core/admission/index.ts';
import type { JobTruth } from '../../../../functions/core/gitlab/index.ts';
import { parseLimits } from '../../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../../policies/document/parse-policy.ts';
import {
  type DocumentProblem,
  type ParseResult,
  problemText,
} from '../../../../policies/document/reading.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import { directoryOf } from '../../../../policies/place/directory.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { JOB_NAMES, PROJECTS, ROOT_GROUPS } from '../../../cli/cost/assumptions.ts';

const place = (project: number) => {
  const root = project % ROOT_GROUPS;
  return { root: 1000 + root, group: 2000 + root, project: 30_000 + project };
};

/** In the order in which fleets add them: two budgets and the jobs at once of a project come first. */
const LIMITS: readonly (readonly [Level, Readonly<Record<string, unknown>>])[] = (() => {
  const wide = { money: 900_000_000, per: 'month' };
  const kinds = [
    { money: 900_000_000, per: 'day' },
    { minutes: 900_000_000, per: 'month' },
    { minutes: 900_000_000, per: 'day' },
    { money: 900_000_000, per: 'week' },
  ];
  const jobs = { jobs: 1_000_000_000 };
  const levels: readonly Level[] = ['root', 'group', 'project', 'instance'];
  return [
    ['root', wide],
    ['group', wide],
    ['project', jobs],
    ['instance', wide],
    ['project', wide],
    ['root', jobs],
    ['group', jobs],
    ['instance', jobs],
    ...kinds.flatMap((kind) => levels.map((level) => [level, kind] as const)),
  ];
})();

type Level = 'root' | 'group' | 'project' | 'instance';

/**
 * Every job counts on `counters` counters.
 *
 * @param firstLimit - of a root group's money per month; what the jobs ask beyond it is rejected.
 */
export function sampleRules(counters: number, firstLimit?: number): Rules {
  const policy = valid(
    parsePolicy(
      {
        currency: 'USD',
        prices: {
          version: '2026-11',
          classes: [{ name: 'medium', tags: ['medium'], rate_per_minute: '0.02' }],
          default_class: 'medium',
        },
        estimate: { default: '10m' },
        rules: [
          { id: 'budgets', kind: 'budget', mode: 'enforce' },
          { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
        ],
      },
      'sample policy',
    ),
  );
  const projects = Array.from({ length: PROJECTS }, (_, index) => place(index));
  const subjects = { root: new Set<unknown>(), group: new Set<unknown>(), project: new Set<unknown>() };
  for (const { root, group, project } of projects) {
    subjects.root.add(root);
    subjects.group.add(group);
    subjects.project.add(project);
  }
  const documents = LIMITS.slice(0, counters).flatMap(([level, limit], index): readonly unknown[] => {
    const amount = index === 0 && firstLimit !== undefined ? { ...limit, money: firstLimit } : limit;
    if (level === 'instance') return [{ on: 'instance', ...amount }];
    const kind = level === 'project' ? 'project' : 'group';
    return [...subjects[level]].map((id) => ({ on: { [kind]: id }, ...amount }));
  });
  const limits = valid(parseLimits({ limits: documents }, 'sample limits', policy));
  const directory = directoryOf(
    [...new Map(projects.map((each) => [each.root, each])).values()].flatMap(({ root, group }) => [
      { id: root, path: `company-${root}`, personal: false },
      { id: group, parentId: root, path: `company-${root}/payments`, personal: false },
    ]),
  );
  return { policy, limits, directory, estimator: timeoutEstimator };
}

const jobName = (index: number): string => `test:integration ${index % JOB_NAMES}`;

/** The question of job `jobId`, one of a pipeline of the n-th project. */
export function sampleRequest(jobId: number, project: number, pipelineId: number): AdmissionRequest {
  const { root, group, project: projectId } = place(project % PROJECTS);
  return {
    jobId,
    jobName: jobName(jobId),
    pipelineId,
    projectId,
    projectPath: `company-${root}/payments/service-${projectId}`,
    namespaceId: group,
    rootNamespaceId: root,
    userId: 1_234,
    image: 'registry.example.com/company/build/node:24',
    ref: 'feature/cheaper-checkout',
    pipelineSource: 'merge_request_event',
    runnerTags: ['linux', 'medium'],
    timeoutSeconds: 3_600,
  };
}

/** What GitLab's webhook says of its end. */
export function sampleTruth(request: AdmissionRequest, rejected: boolean, atMs: number): JobTruth {
  const { jobId, projectId = 0, projectPath = '', pipelineId = 0 } = request;
  return {
    jobId,
    projectId,
    status: rejected ? 'failed' : 'success',
    projectPath,
    jobName: jobName(jobId),
    jobStage: 'test',
    pipelineId,
    userId: 1_234,
    ref: 'feature/cheaper-checkout',
    createdAtMs: atMs - 300_000,
    finishedAtMs: atMs,
    ...(rejected
      ? { failureReason: 'job_router_failure' }
      : {
          runnerId: 41,
          runnerTags: ['linux', 'medium'],
          startedAtMs: atMs - 240_000,
          durationSeconds: 240.123456,
          ...{ retryCount: 0, queuedSeconds: 60.123456 },
          failureReason: 'unknown_failure',
        }),
  };
}

/** Names a project's jobs go by, and how long their last runs took, seconds. */
export const sampleRuns = (): readonly { readonly jobName: string; readonly seconds: number }[] =>
  Array.from({ length: JOB_NAMES * 20 }, (_, index) => ({
    jobName: jobName(index),
    seconds: 180 + ((index * 37) % 120),
  }));

export const sampleProjectId = (project: number): number => place(project % PROJECTS).project;

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}
