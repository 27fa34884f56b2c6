/** A group of the instance, at the top or below another. */
export interface LocalGroup {
  readonly id: number;
  /** Absent: a top-level group. */
  readonly parentId?: number;
  /** The last part of its full path. */
  readonly path: string;
  /** @default 'private' */
  readonly visibility?: string;
}

export interface LocalProject {
  readonly id: number;
  /** A group, or a personal namespace. */
  readonly namespaceId: number;
  /** The last part of its full path. */
  readonly path: string;
  /** @default 'private' */
  readonly visibility?: string;
  /** @default 'main' */
  readonly defaultBranch?: string;
  /** Unix ms. @default the beginning of 1970 */
  readonly updatedAtMs?: number;
}

/** Groups, projects and personal namespaces by id; whoever holds the book changes them as people do. */
export class PlaceBook {
  readonly groups: Map<number, LocalGroup>;
  readonly projects = new Map<number, LocalProject>();
  /** Personal namespaces: id and user name. */
  readonly users = new Map<number, string>();

  constructor(groups: readonly LocalGroup[] = []) {
    this.groups = new Map(groups.map((group) => [group.id, group]));
  }

  /** A project at this full path; groups on the way that are missing are made. */
  putProject({ id, path, defaultBranch }: { id: number; path: string; defaultBranch?: string }): void {
    const slugs = path.split('/');
    const own = slugs.pop() ?? '';
    let parentId: number | undefined;
    for (const slug of slugs) parentId = this.#groupIn(parentId, slug).id;
    const branch = defaultBranch === undefined ? {} : { defaultBranch };
    this.projects.set(id, { id, namespaceId: parentId ?? 0, path: own, ...branch });
  }

  #groupIn(parentId: number | undefined, path: string): LocalGroup {
    const there = [...this.groups.values()].find((each) => each.parentId === parentId && each.path === path);
    if (there !== undefined) return there;
    const id = Math.max(0, ...this.groups.keys(), ...this.users.keys()) + 1;
    const made = { id, path, ...(parentId !== undefined && { parentId }) };
    this.groups.set(id, made);
    return made;
  }

  /** Full path of a group or of a personal namespace. */
  pathOf(namespaceId: number): string {
    const group = this.groups.get(namespaceId);
    if (group === undefined) return this.users.get(namespaceId) ?? `gone-${namespaceId}`;
    return group.parentId === undefined ? group.path : `${this.pathOf(group.parentId)}/${group.path}`;
  }

  group(idOrPath: string): LocalGroup | undefined {
    return (
      this.groups.get(Number(idOrPath)) ??
      [...this.groups.values()].find(({ id }) => this.pathOf(id) === idOrPath)
    );
  }

  project(idOrPath: string): LocalProject | undefined {
    return (
      this.projects.get(Number(idOrPath)) ??
      [...this.projects.values()].find((each) => `${this.pathOf(each.namespaceId)}/${each.path}` === idOrPath)
    );
  }
}
