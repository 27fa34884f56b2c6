import type { Variables } from './variables.ts';
import { isMap } from './yaml-source.ts';

/** One job of `parallel`, with the name GitLab gives it and the variables that are its own. */
export interface ParallelJob {
  readonly name: string;
  readonly variables: Variables;
}

/** GitLab's limit, for a number and for a matrix alike. */
const PARALLEL_MAX = 200;

/** `job` → `job 1/4` … or `job: [a, b]` …; without `parallel` the job itself. */
export function expandParallel(name: string, parallel: unknown, problems: string[]): readonly ParallelJob[] {
  if (parallel === undefined || parallel === null) return [{ name, variables: {} }];
  if (
    typeof parallel === 'number' &&
    Number.isInteger(parallel) &&
    parallel >= 1 &&
    parallel <= PARALLEL_MAX
  ) {
    return Array.from({ length: parallel }, (_, index) => ({
      name: `${name} ${index + 1}/${parallel}`,
      variables: nodeVariables(index, parallel),
    }));
  }
  const rows = isMap(parallel) && Array.isArray(parallel.matrix) ? parallel.matrix.flatMap(cells) : [];
  if (rows.length === 0 || rows.length > PARALLEL_MAX) {
    problems.push(
      `${name}: parallel must be a number or a matrix of 1 to ${PARALLEL_MAX} jobs; taken as one job`,
    );
    return [{ name, variables: {} }];
  }
  return rows.map((row, index) => ({
    name: `${name}: [${Object.values(row).join(', ')}]`,
    variables: { ...row, ...nodeVariables(index, rows.length) },
  }));
}

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
