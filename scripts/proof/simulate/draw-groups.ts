/** The groups, their projects and how much each project does. */

import { logNormal, STAGES, shareEnds } from '../../local/random.ts';
import { PROJECT_SIGMA, PROJECT_WEIGHT_POWER, type WorkloadShape } from './workload.ts';

export interface DrawnGroup {
  readonly id: number;
  readonly path: string;
  readonly level: 1 | 2 | 3;
  readonly parentId?: number;
}

export interface DrawnProject {
  readonly id: number;
  readonly path: string;
  /** Its groups, root first. */
  readonly groupIds: readonly [root: number, middle: number, leaf: number];
  /** Keyed by job name. */
  readonly medianSeconds: ReadonlyMap<string, number>;
}

export interface DrawnPlaces {
  readonly groups: readonly DrawnGroup[];
  readonly projects: readonly DrawnProject[];
  /** Up to and with each project, of a total of 1. */
  readonly weightEnds: readonly number[];
}

export function drawGroups(shape: WorkloadShape, random: () => number): DrawnPlaces {
  const [roots, middles, leaves] = shape.groupsByLevel;
  const level1 = times(roots, (index): DrawnGroup => ({ id: 100 + index, path: `root${index}`, level: 1 }));
  const level2 = times(middles, (index) => below(level1, index, 1_000 + index, 'team', 2));
  const level3 = times(leaves, (index) => below(level2, index, 10_000 + index, 'unit', 3));
  const parentOf = new Map([...level2, ...level3].map((group) => [group.id, group.parentId ?? 0]));

  const projects = times(shape.projects, (index): DrawnProject => {
    const leaf = level3[index % leaves];
    if (leaf === undefined) throw new RangeError('a month needs groups of level 3');
    const middle = parentOf.get(leaf.id) ?? 0;
    const medians = STAGES.flat().map(
      ({ name, medianSeconds }) => [name, logNormal(medianSeconds, PROJECT_SIGMA, random)] as const,
    );
    return {
      id: 100_000 + index,
      path: `${leaf.path}/service${index}`,
      groupIds: [parentOf.get(middle) ?? 0, middle, leaf.id],
      medianSeconds: new Map(medians),
    };
  });
  const weightEnds = shareEnds(projects.map((_, index) => (index + 1) ** PROJECT_WEIGHT_POWER));
  return { groups: [...level1, ...level2, ...level3], projects, weightEnds };
}

function below(
  parents: readonly DrawnGroup[],
  index: number,
  id: number,
  word: string,
  level: 2 | 3,
): DrawnGroup {
  const parent = parents[index % parents.length];
  if (parent === undefined) throw new RangeError(`a month needs groups of level ${level - 1}`);
  return { id, path: `${parent.path}/${word}${index}`, level, parentId: parent.id };
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));
