import type { PlaceBook } from '../../scripts/local/gitlab/places.ts';

/** `roots` trees of groups, two levels deep, `groups` in all, with so many projects spread over them. */
export function fillPlaces(
  places: PlaceBook,
  { roots, groups, projects }: { roots: number; groups: number; projects: number },
): void {
  for (let id = 1; id <= groups; id += 1) {
    const parentId = id <= roots ? undefined : 1 + ((id - 1) % roots);
    places.groups.set(id, { id, path: `g${id}`, ...(parentId !== undefined && { parentId }) });
  }
  for (let id = 1; id <= projects; id += 1) {
    places.projects.set(id, { id, namespaceId: 1 + (id % groups), path: `p${id}` });
  }
}
