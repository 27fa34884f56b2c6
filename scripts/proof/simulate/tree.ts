/** Where every project stands under one edition: groups move, and everything below them moves along. */
import type { DrawnPlaces } from './draw-groups.ts';
import type { PlannedJob } from './draw-jobs.ts';
import { type Edition, groupChainOf } from './expected/edition.ts';

interface ProjectPlace {
  readonly id: number;
  readonly path: string;
  readonly groupId: number;
  /** Root first. */
  readonly groupIds: readonly number[];
}

export class Tree {
  readonly projects: readonly ProjectPlace[];
  /** Every group, parents before what is below them. */
  readonly groups: readonly { readonly id: number; readonly parentId?: number; readonly path: string }[];

  constructor({ groups, projects }: DrawnPlaces, parentOf: Edition['parentOf']) {
    const names = new Map(groups.map(({ id, path }) => [id, lastPart(path)]));
    const pathOf = (id: number): string =>
      groupChainOf(id, parentOf)
        .map((each) => names.get(each) ?? '')
        .join('/');
    this.groups = groups.map(({ id }) => {
      const parentId = parentOf.get(id);
      return { id, path: pathOf(id), ...(parentId !== undefined && { parentId }) };
    });
    this.projects = projects.map(({ id, path, groupIds: [, , leaf] }) => ({
      id,
      path: `${pathOf(leaf)}/${lastPart(path)}`,
      groupId: leaf,
      groupIds: groupChainOf(leaf, parentOf),
    }));
  }

  placeOf({ project }: Pick<PlannedJob, 'project'>): ProjectPlace {
    const place = this.projects[project];
    if (place === undefined) throw new RangeError(`there is no project ${project}`);
    return place;
  }
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
