import type { GitLabVersion } from './hook-request.ts';
import type { LocalGroup } from './place-book.ts';

/** How an instance is set up, where it differs from one that has everything. */
export interface AdministrationSetting {
  /** @default 'ultimate' */
  readonly licence?: 'ultimate' | 'premium' | 'none';
  /** Whether the token is an administrator's. @default true */
  readonly administrator?: boolean;
  /** What the token may do. @default api and admin_mode */
  readonly scopes?: readonly string[];
  /** Day on which the token dies, e.g. `2027-01-01`. @default none */
  readonly expiresAt?: string;
  /** Groups that are there from the beginning. @default none */
  readonly groups?: readonly LocalGroup[];
  /** What `GET /application/settings` says, where it differs from a new instance. */
  readonly applicationSettings?: Readonly<Record<string, unknown>>;
  /** Those that somebody has set. @default all three that the job router needs are on */
  readonly flags?: Readonly<Record<string, 'on' | 'off' | 'conditional'>>;
  /** @default 'wss://kas.gitlab.localhost' */
  readonly routerUrl?: string | null;
  /** What runners identify themselves by. @default none is known */
  readonly runnerToken?: string;
  /** GitLab disables webhooks that fail four times in a row; off by default on Self-Managed. @default false */
  readonly disablesHooks?: boolean;
}

/** Introduced with admission: older builds do not know the last one. */
export const ROUTER_FLAGS = [
  'job_router',
  'job_router_instance_runners',
  'job_router_admission_control',
] as const;

/** What GitLab says of itself. */
export class Administration {
  readonly setting: AdministrationSetting;
  readonly version: GitLabVersion;

  constructor(setting: AdministrationSetting, version: GitLabVersion) {
    this.setting = setting;
    this.version = version;
  }

  get isAdministrator(): boolean {
    return this.setting.administrator ?? true;
  }

  get licence(): 'ultimate' | 'premium' | 'none' {
    return this.setting.licence ?? 'ultimate';
  }

  get hasHooks(): boolean {
    return this.licence !== 'none';
  }

  get signs(): boolean {
    return Number.parseInt(this.version, 10) >= 19;
  }

  flags(): Readonly<Record<string, string>> {
    return this.setting.flags ?? Object.fromEntries(ROUTER_FLAGS.map((name) => [name, 'on']));
  }
}
