/** Reads and changes runners in GitLab. Needs an administrator's token, or an auditor's to read. */
export interface FleetGitLab {
  /**
   * `GET /runners/all`, in numbered pages, without tags: see `runner`.
   *
   * @param page - `next` of the previous page; absent: the first.
   * @throws {GitLabError}
   */
  listed(options: { readonly page?: string }): Promise<FleetPage>;
  /** `GET /runners/:id`. `undefined`: GitLab knows no such runner. @throws {GitLabError} */
  runner(id: number): Promise<FleetRunner | undefined>;
  /** `GET /runners/:id/managers`, which has no pages. @throws {GitLabError} */
  managers(runnerId: number): Promise<ManagerList>;
  /**
   * `POST /user/runners`: creates a runner with an authentication token (`glrt-…`), which GitLab returns
   * only once.
   *
   * @throws {GitLabError} It may or may not exist.
   */
  create(runner: NewRunner): Promise<CreatedRunner>;
  /** `PUT /runners/:id` with `paused`: it takes no new job. @throws {GitLabError} It may or may not be. */
  pause(id: number): Promise<void>;
}

export const RUNNER_TYPES = ['instance_type', 'group_type', 'project_type'] as const;

type RunnerType = (typeof RUNNER_TYPES)[number];

/** A runner in a list. */
export interface ListedRunner {
  readonly id: number;
  readonly description: string;
  readonly type: RunnerType;
  /** It takes no new job. */
  readonly paused: boolean;
  /** `online`, `offline`, `stale`, `never_contacted`; older versions say `paused` instead of the first two. */
  readonly status: string;
}

interface FleetPage {
  readonly runners: readonly ListedRunner[];
  /** Entries that could not be read and are left out; absent: none. */
  readonly unreadable?: number;
  /** Absent: this was the last page. */
  readonly next?: string;
}

/** One runner in full. Several processes may work under its token: its managers. */
export interface FleetRunner extends ListedRunner {
  readonly tags: readonly string[];
  /** It takes jobs without tags as well. */
  readonly runUntagged: boolean;
  readonly locked: boolean;
  readonly accessLevel: string;
  readonly maximumTimeoutSeconds?: number;
  /** The administrators' note; absent also if the token may not read it. */
  readonly maintenanceNote?: string;
  readonly contactedAtMs?: number;
  /**
   * Origin of its token. `user`: a user created it, with an authentication token. `token`: it was registered
   * with a registration token, or its creator is gone. Absent: this GitLab version does not return it.
   */
  readonly createdBy?: 'user' | 'token';
  /** The groups or projects it belongs to; the first is its owner. */
  readonly ownerIds: readonly number[];
}

/** A process of GitLab Runner that works under a runner's token. */
export interface RunnerManager {
  /** Made by the machine; `s_…` survives restarts, `r_…` does not. */
  readonly systemId: string;
  readonly version?: string;
  readonly platform?: string;
  readonly architecture?: string;
  /** GitLab writes it down every 40 to 55 minutes. */
  readonly contactedAtMs?: number;
  readonly status: string;
}

interface ManagerList {
  readonly managers: readonly RunnerManager[];
  readonly unreadable?: number;
}

/** A runner to be made, with what the one it replaces has. */
export interface NewRunner
  extends Pick<
    FleetRunner,
    'description' | 'type' | 'tags' | 'runUntagged' | 'locked' | 'accessLevel' | 'maximumTimeoutSeconds'
  > {
  readonly maintenanceNote: string;
  /** The group or the project, unless it is the instance's. */
  readonly ownerId?: number;
}

export interface CreatedRunner {
  readonly id: number;
  /** Its authentication token: shown once, never to be printed. */
  readonly token: string;
}
