import type { JobStatus } from '../../../functions/core/gitlab/gitlab.ts';
import type { WallClock } from '../clock.ts';
import type { ControllerTokenBook, LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import type { PlaceBook } from './places.ts';
import type { LocalCiProject, LocalPipeline } from './runners.ts';
import type { GitLabVersion, GroupHookBook } from './webhooks.ts';

export interface GitLabState {
  readonly clock: WallClock;
  readonly random: () => number;
  readonly instanceUrl: string;
  readonly version: GitLabVersion;
  readonly token: string;
  readonly groupTokens: ReadonlyMap<string, string>;
  readonly settings: InstanceSettings;
  readonly faults: LocalGitLabFaults;
  readonly rest: { calls: number };
  readonly jobs: Map<number, LocalJob>;
  readonly jobTokens: Map<number, string>;
  readonly runners: Map<number, LocalRunner>;
  readonly ciProjects: readonly LocalCiProject[];
  readonly pipelines: Map<number, LocalPipeline>;
  readonly places: PlaceBook;
  readonly controllers: Map<number, LocalController>;
  readonly controllerTokens: ControllerTokenBook;
  readonly groupHooks: GroupHookBook;
  create(job: NewJob): Readonly<LocalJob>;
  start(jobId: number, runner: LocalRunner): void;
  end(jobId: number, ending: JobEnding): void;
}

export interface LocalRunner {
  readonly id: number;
  readonly description?: string;
  readonly type?: 'instance_type' | 'group_type' | 'project_type';
  readonly tags?: readonly string[];
  readonly paused?: boolean;
  readonly status?: 'online' | 'offline' | 'stale' | 'never_contacted';
  /** @default true for a runner without tags */
  readonly runUntagged?: boolean;
  readonly maximumTimeoutSeconds?: number;
  readonly maintenanceNote?: string;
  /** The user whose token created it; null: a registration token. @default null */
  readonly createdBy?: number | null;
  readonly ownerId?: number;
  readonly token?: string;
  readonly managers?: readonly LocalManager[];
}

export interface LocalManager {
  readonly systemId: string;
  readonly version: string;
  readonly platform?: string;
  readonly architecture?: string;
  readonly status?: string;
  readonly contactedAtMs?: number;
}

export interface NewJob {
  readonly id: number;
  readonly projectId: number;
  readonly projectPath: string;
  readonly name: string;
  readonly stage?: string;
  readonly pipelineId?: number;
  readonly userId?: number;
  readonly ref?: string;
  readonly environment?: string;
  readonly tags?: readonly string[];
  readonly retryCount?: number;
  readonly script?: readonly string[];
}

export interface LocalJob extends NewJob {
  status: JobStatus;
  readonly createdAtMs: number;
  queuedAtMs?: number;
  startedAtMs?: number;
  finishedAtMs?: number;
  runner?: LocalRunner;
  failureReason?: string;
  failureMessage?: string;
  trace?: string;
}

export type JobEnding =
  | { readonly status: 'success' | 'canceled' }
  | { readonly status: 'failed'; readonly failureReason?: string; readonly message?: string };

export const nextId = (known: ReadonlyMap<number, unknown>): number => Math.max(0, ...known.keys()) + 1;

export const sortedRunners = ({ runners }: GitLabState): readonly LocalRunner[] =>
  [...runners.values()].sort((a, b) => a.id - b.id);

type RestFault = { readonly status: number; readonly retryAfterSeconds?: number } | 'stall';

export class LocalGitLabFaults {
  refuseKeyset = false;
  #rest: { fault: RestFault; left: number }[] = [];

  answerRest(fault: RestFault, calls = 1): void {
    this.#rest.push({ fault, left: calls });
  }

  clear(): void {
    this.refuseKeyset = false;
    this.#rest = [];
  }

  takeRest(): RestFault | undefined {
    const [first] = this.#rest;
    if (first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) this.#rest.shift();
    return first.fault;
  }
}
