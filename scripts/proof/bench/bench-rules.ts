import type { Rules } from '../../../functions/core/admission/judge.ts';
import type { RulesFile } from '../../../functions/core/rules.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../../policies/document/reading.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

const BUDGET = 900_000_000;
const JOBS_MAX = 1_000_000_000;

export const benchPlace = (root: number) => ({ root: 1000 + root, group: 2000 + root, project: 3000 + root });

const placesOf = (roots: number) => Array.from({ length: roots }, (_, index) => benchPlace(index));

const directoryOf = (roots: number) => ({
  groups: placesOf(roots).flatMap(({ root, group }) => [
    { id: root, path: `root-${root}` },
    { id: group, parent: root, path: `root-${root}/team-${group}` },
  ]),
});

const limitsOf = (roots: number, isShared: boolean) => ({
  limits: [
    ...(isShared ? [{ on: 'instance', money: BUDGET, per: 'month', mode: 'enforce' }] : []),
    ...placesOf(roots).flatMap(({ root, group, project }) => [
      { on: { group: root }, money: BUDGET, per: 'month', mode: 'enforce' },
      { on: { group }, money: BUDGET, per: 'month', mode: 'enforce' },
      { on: { project }, jobs: JOBS_MAX, mode: 'enforce' },
    ]),
  ],
});

export const policyDocument = (moreRules: readonly unknown[] = []) => ({
  currency: 'USD',
  prices: {
    version: 'bench',
    classes: [{ name: 'medium', tags: ['medium'], rate_per_minute: '0.02' }],
    default_class: 'medium',
  },
  estimate: { default: '10m' },
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
    ...moreRules,
  ],
});

/**
 * Three counters per job: root budget, group budget, jobs of the project. They are wide enough that nothing is refused,
 * because the bench measures admissions.
 *
 * @param isShared - true if all roots also count on one limit of the instance.
 */
export const benchRules = (roots: number, moreRules: readonly unknown[] = [], isShared = false): Rules =>
  rulesFrom({
    policy: policyDocument(moreRules),
    limits: limitsOf(roots, isShared),
    directory: directoryOf(roots),
  });

export const packedBenchRules = (roots: number): RulesFile => ({
  policy: { version: 'bench', document: policyDocument() },
  limits: { version: 'bench', document: limitsOf(roots, false) },
  directory: directoryOf(roots),
});

export function rulesFrom(documents: Readonly<Record<'policy' | 'limits' | 'directory', unknown>>): Rules {
  const policy = valid(parsePolicy(documents.policy, 'bench'));
  const directory = valid(parseDirectory(documents.directory));
  const limits = valid(parseLimits(documents.limits, 'bench', policy, directory));
  return { policy, limits, directory, estimator: timeoutEstimator };
}

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}

export function benchRequest(jobId: number, root: number): AdmissionRequest {
  const { root: rootNamespaceId, group: namespaceId, project: projectId } = benchPlace(root);
  return {
    jobId,
    jobName: 'integration test: [postgres]',
    pipelineId: 8_000_000,
    projectId,
    projectPath: `root-${rootNamespaceId}/team-${namespaceId}/service`,
    namespaceId,
    rootNamespaceId,
    userId: 7,
    image: 'registry.example.com/acme/build/node:24',
    runnerTags: ['linux', 'medium'],
    timeoutSeconds: 3600,
  };
}
