import { PipelineError } from './pipeline-error.ts';
import type { Variables } from './variables.ts';
import { isMap } from './yaml-map.ts';

/** One job of `parallel`, with the name GitLab gives it and the variables that are its own. */
export interface ParallelJob {
  readonly name: string;
  readonly variables: Variables;
}

/** GitLab's limit, for a number and for a matrix alike. */
const PARALLEL_MAX = 200;

/**
 * `job` → `job 1/4` … or `job: [a, b]` …; without `parallel` the job itself.
 *
 * @param onUnread - takes what is not understood.
 * @throws {PipelineError} `refused` for more jobs than GitLab allows.
 */
export function expandParallel(
  name: string,
  parallel: unknown,
  onUnread: (what: string) => void,
): readonly ParallelJob[] {
  if (parallel === undefined || parallel === null) return [{ name, variables: {} }];
  const count = countOf(parallel);
  if (count > PARALLEL_MAX)
    throw new PipelineError(
      'refused',
      `parallel comes to ${count} jobs; GitLab refuses a pipeline with more than ${PARALLEL_MAX} in one job`,
      name,
    );
  if (!(count >= 1)) {
    onUnread(`parallel must be a number or a matrix of 1 to ${PARALLEL_MAX} jobs; taken as one job`);
    return [{ name, variables: {} }];
  }
  if (typeof parallel === 'number')
    return Array.from({ length: count }, (_, index) => ({
      name: `${name} ${index + 1}/${count}`,
      variables: nodeVariables(index, count),
    }));
  return matrixOf(parallel)
    .flatMap(cells)
    .map((row, index) => ({
      name: `${name}: [${Object.values(row).join(', ')}]`,
      variables: { ...row, ...nodeVariables(index, count) },
    }));
}

/** Number of jobs, computed before any is made; NaN for an invalid value. */
function countOf(parallel: unknown): number {
  if (typeof parallel === 'number') return Number.isInteger(parallel) ? parallel : Number.NaN;
  return matrixOf(parallel).reduce<number>(
    (sum, entry) =>
      sum + (isMap(entry) ? Object.values(entry).reduce<number>((all, each) => all * lengthOf(each), 1) : 0),
    0,
  );
}

const matrixOf = (parallel: unknown): readonly unknown[] =>
  isMap(parallel) && Array.isArray(parallel.matrix) ? parallel.matrix : [];

const lengthOf = (values: unknown): number => (Array.isArray(values) ? values.length : 1);

const nodeVariables = (index: number, total: number): Variables => ({
  CI_NODE_INDEX: String(index + 1),
  CI_NODE_TOTAL: String(total),
});

/** Every combination of one matrix entry, the last key turning fastest. */
function cells(entry: unknown): Variables[] {
  if (!isMap(entry)) return [];
  let rows: Variables[] = [{}];
  for (const [key, values] of Object.entries(entry)) {
    rows = rows.flatMap((row) => [values].flat().map((value) => ({ ...row, [key]: String(value) })));
  }
  return rows;
}
