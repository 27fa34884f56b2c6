/** A group as GitLab lists it. */
export interface GitLabGroup {
  readonly id: number;
  readonly parentId?: number;
  /** Full path. */
  readonly path: string;
  readonly visibility?: string;
}

export interface GitLabProject {
  readonly id: number;
  /** The last part of its path, `checkout`. */
  readonly slug: string;
  readonly visibility?: string;
  /** Its namespace: a group, or a user's personal namespace. */
  readonly namespace: { readonly id: number; readonly path: string; readonly personal: boolean };
}

/** Reads groups and projects. Each call has its own timeout. */
export interface GitLabDirectory {
  /**
   * `GET /groups`, by id. GitLab has pages by key for strangers only: these are numbered, and a group that is deleted
   * meanwhile moves one past the reader.
   * @param page - as `next` of the page before; absent: the first.
   * @throws {GitLabError}
   */
  groups(options: { readonly page?: string }): Promise<GroupsPage>;
  /**
   * `GET /projects`, by id, pages by key: all projects after `afterId`.
   * @throws {GitLabError}
   */
  projects(options: { readonly afterId: number; readonly page?: string }): Promise<ProjectsPage>;
  /**
   * `GET /projects` that changed since then, the latest first: one that changes meanwhile comes twice rather than never.
   * @param sinceMs - Unix ms, by GitLab's clock.
   * @throws {GitLabError}
   */
  projectsChanged(options: { readonly sinceMs: number; readonly page?: string }): Promise<ProjectsPage>;
  /** `GET /groups/:id`. `undefined`: GitLab knows no such group. @throws {GitLabError} */
  group(id: number): Promise<GitLabGroup | undefined>;
  /** `GET /projects/:id`. `undefined`: GitLab knows no such project. @throws {GitLabError} */
  project(id: number): Promise<GitLabProject | undefined>;
}

interface GroupsPage {
  readonly groups: readonly GitLabGroup[];
  /** Entries that could not be read and are left out; absent: none. */
  readonly unreadable?: number;
  /** Absent: this was the last page. */
  readonly next?: string;
}

export interface ProjectsPage {
  readonly projects: readonly GitLabProject[];
  /** Entries that could not be read and are left out; absent: none. */
  readonly unreadable?: number;
  readonly next?: string;
}
