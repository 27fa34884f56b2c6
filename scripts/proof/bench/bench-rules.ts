import type { Rules } from '../../../functions/core/admission/judge.ts';
import type { RulesFile } from '../../../functions/core/published-rules.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../../policies/document/reading.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

const BUDGET = 900_000_000;
const JOBS_MAX = 1_000_000_000;

export type BenchPlace = ReturnType<typeof benchPlace>;
export const benchPlace = (root: number) => ({ root: 1000 + root, group: 2000 + root, project: 3000 + root });

/**
 * Three counters per job: root budget, group budget, jobs of the project. They are wide enough that nothing is refused,
 * because the bench measures admissions.
 *
 * @param isShared - true if all roots also count on one limit of the instance.
 */
function documents(places: readonly BenchPlace[], moreRules: readonly unknown[] = [], isShared = false) {
  const groups = [...new Map(places.map((place) => [place.group, place])).values()];
  const budget = { money: BUDGET, per: 'month', mode: 'enforce' };
  return {
    policy: {
      currency: 'USD',
      prices: {
        ...{ version: 'bench', default_class: 'medium' },
        classes: [{ name: 'medium', tags: ['medium'], rate_per_minute: '0.02' }],
      },
      estimate: { default: '10m' },
      rules: [
        { id: 'budgets', kind: 'budget', mode: 'enforce' },
        { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
        ...moreRules,
      ],
    },
    limits: {
      limits: [
        ...(isShared ? [{ on: 'instance', ...budget }] : []),
        ...groups.flatMap(({ root, group }) => [root, group].map((id) => ({ on: { group: id }, ...budget }))),
        ...places.map(({ project }) => ({ on: { project }, jobs: JOBS_MAX, mode: 'enforce' })),
      ],
    },
    directory: {
      groups: groups.flatMap(({ root, group }) => [
        { id: root, path: `root-${root}` },
        { id: group, parent: root, path: `root-${root}/team-${group}` },
      ]),
    },
  };
}

const newPlaces = (roots: number) => Array.from({ length: roots }, (_, root) => benchPlace(root));

export const placedRules = (places: readonly BenchPlace[]): Rules => rulesFrom(documents(places));
export const benchRules = (roots: number, moreRules?: readonly unknown[], isShared?: boolean): Rules =>
  rulesFrom(documents(newPlaces(roots), moreRules, isShared));

export function packedBenchRules(roots: number): RulesFile {
  const { policy, limits, directory } = documents(newPlaces(roots));
  const packed = (document: unknown) => ({ version: 'bench', document });
  return { policy: packed(policy), limits: packed(limits), directory };
}

export function rulesFrom(from: Readonly<Record<'policy' | 'limits' | 'directory', unknown>>): Rules {
  const policy = valid(parsePolicy(from.policy, 'bench'));
  const directory = valid(parseDirectory(from.directory));
  const limits = valid(parseLimits(from.limits, 'bench', policy, directory));
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
