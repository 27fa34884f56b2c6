import type { WallClock } from '../clock/clock.ts';
import type { ControllerBook, ControllerTokenBook } from './controllers.ts';
import type { LocalGitLabFaults } from './faults.ts';
import type { GroupHookBook } from './group-hooks.ts';
import type { InstanceSettings } from './instance.ts';
import type { JobBook, JobEnding, LocalJob, LocalRunner, NewJob } from './jobs.ts';
import type { LocalCiProject, LocalPipeline } from './pipelines.ts';
import type { PlaceBook } from './places.ts';
import type { GitLabVersion } from './webhooks.ts';

/** Everything the local GitLab knows. Each route file reads and changes its part. */
export interface GitLabState extends JobLife {
  readonly clock: WallClock;
  /** [0, 1): makes tokens and ids. */
  readonly random: () => number;
  readonly instanceUrl: string;
  readonly version: GitLabVersion;
  /** An administrator's token. */
  readonly token: string;
  /** Group paths by the group's token, which has the role Developer. */
  readonly groupTokens: ReadonlyMap<string, string>;
  readonly settings: InstanceSettings;
  readonly faults: LocalGitLabFaults;
  /** REST calls that arrived, refused ones included. */
  readonly rest: { calls: number };
  readonly jobs: JobBook;
  /** Tokens of running jobs, by job id. */
  readonly jobTokens: Map<number, string>;
  /** Projects whose pipelines can be started. */
  readonly ciProjects: readonly LocalCiProject[];
  readonly pipelines: Map<number, LocalPipeline>;
  readonly places: PlaceBook;
  readonly controllers: ControllerBook;
  readonly controllerTokens: ControllerTokenBook;
  readonly groupHooks: GroupHookBook;
}

/** Changes of a job that webhooks report. */
export interface JobLife {
  /** Creates a pending job. @throws {Error} if its id is taken */
  create(job: NewJob): Readonly<LocalJob>;
  /** Starts a job on a runner. @throws {Error} if the job does not exist or has ended */
  start(jobId: number, runner: LocalRunner): void;
  /** Ends a job. @throws {Error} if the job does not exist or has ended */
  end(jobId: number, ending: JobEnding): void;
}
