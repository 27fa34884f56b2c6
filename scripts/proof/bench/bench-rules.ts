import type { Rules } from '../../../functions/core/admission/index.ts';
import type { RulesFile } from '../../../functions/core/rules/index.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../../policies/document/parsed.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

const BUDGET = 900_000_000;
const JOBS_MAX = 1_000_000_000;

/** A root group, a subgroup and a project each; ids of the n-th root. */
export const benchPlace = (root: number) => ({ root: 1000 + root, group: 2000 + root, project: 3000 + root });
type BenchPlace = ReturnType<typeof benchPlace>;

/**
 * Three counters per job (root budget, group budget, jobs at once in the project), wide enough that nothing is
 * refused: the bench measures admissions.
 *
 * @param moreRules - of the policy document, beside the two that switch on these limits.
 * @param rootBudget - of each root group, in the currency.
 * @param isShared - whether all roots count on one limit of the instance besides.
 */
export function benchRules(
  roots: number,
  moreRules: readonly unknown[] = [],
  rootBudget = BUDGET,
  isShared = false,
): Rules {
  const policy = valid(parsePolicy(policyDocument(moreRules), 'bench'));
  const places = placesOf(roots);
  const shared = isShared ? [{ on: 'instance', money: BUDGET, per: 'month', mode: 'enforce' }] : [];
  const own = places.flatMap((place) => ownLimits(place, rootBudget));
  const limits = valid(parseLimits({ limits: [...shared, ...own] }, 'bench', policy));
  const directory = directoryOf(
    places.flatMap(({ root, group }) => [
      { id: root, path: `root-${root}`, personal: false },
      { id: group, parentId: root, path: `root-${root}/team-${group}`, personal: false },
    ]),
  );
  return { policy, limits, directory, estimator: timeoutEstimator };
}

const ownLimits = ({ root, group, project }: BenchPlace, rootBudget = BUDGET): readonly unknown[] => [
  { on: { group: root }, money: rootBudget, per: 'month', mode: 'enforce' },
  { on: { group }, money: BUDGET, per: 'month', mode: 'enforce' },
  { on: { project }, jobs: JOBS_MAX, mode: 'enforce' },
];

const policyDocument = (moreRules: readonly unknown[]) => ({
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

/** The rules of {@link benchRules} as the build packs them for the functions and the relay. */
export const packedBenchRules = (roots: number): RulesFile => ({
  policy: { version: 'bench', document: policyDocument([]) },
  limits: { version: 'bench', document: { limits: placesOf(roots).flatMap((place) => ownLimits(place)) } },
  directory: {
    groups: placesOf(roots).flatMap(({ root, group }) => [
      { id: root, path: `root-${root}` },
      { id: group, parent: root, path: `root-${root}/team-${group}` },
    ]),
  },
});

const placesOf = (roots: number): readonly BenchPlace[] =>
  Array.from({ length: roots }, (_, index) => benchPlace(index));

/** A question as the relay translates it, for a job of the n-th root. */
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

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}
