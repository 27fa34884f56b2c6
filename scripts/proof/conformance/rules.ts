import type { Rules } from '../../../functions/core/admission/index.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { type DocumentProblem, type ParseResult, problemText } from '../../../policies/document/reading.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { PEER_PROJECTS } from './peer-router.ts';

const ROOTS = 4;
/** The project with a limit of 0: `blockedProject` in `question.go`. */
const BLOCKED_PROJECT = 1999;
const projects = [BLOCKED_PROJECT, ...Array.from({ length: PEER_PROJECTS }, (_, index) => 2001 + index)];
const rootOf = (project: number): number => 100 + (project % ROOTS);

const POLICY = {
  currency: 'EUR',
  prices: {
    version: 'conformance',
    classes: [{ name: 'small', tags: [], rate_per_minute: '0.01' }],
    default_class: 'small',
  },
  estimate: { default: '10m' },
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    // Open: what cannot be read is for the relay's own brakes, which are what is tried here.
    { id: 'images', kind: 'image', mode: 'enforce', on_error: 'open', deny: ['evil.example.com/**'] },
  ],
};

const DIRECTORY = {
  groups: Array.from({ length: ROOTS }, (_, index) => ({ id: 100 + index, path: `root-${100 + index}` })),
  projects: projects.map((id) => ({ id, group: rootOf(id), path: `root-${rootOf(id)}/project-${id}` })),
};

const LIMITS = {
  limits: [
    ...DIRECTORY.groups.map(({ id }) => ({ on: { group: id }, money: 900_000_000, per: 'month' })),
    { on: { project: BLOCKED_PROJECT }, money: 0, per: 'month' },
  ],
};

/** The rules by which the verdicts of `question.go` are right: one image is denied, one project may spend nothing. */
export function conformanceRules(): Rules {
  const policy = valid(parsePolicy(POLICY, 'conformance'));
  const directory = valid(parseDirectory(DIRECTORY));
  const limits = valid(parseLimits(LIMITS, 'conformance', policy, directory));
  return { policy, directory, limits, estimator: timeoutEstimator };
}

/** The same as the build packs it for the relay. */
export const packedForRelay = (): string =>
  JSON.stringify({ policy: { version: 'conformance', document: POLICY }, directory: DIRECTORY });

function valid<T>(parsed: ParseResult<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}
