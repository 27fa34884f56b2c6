import type { AdminRefusal, GitLabAdministration } from '../../../functions/core/gitlab/index.ts';
import type { SecretStore } from './secret-text.ts';

/** State of one part of the set-up, or the result of a change. */
export interface SetupLine {
  readonly part:
    | 'access'
    | 'version'
    | 'licence'
    | 'flags'
    | 'settings'
    | 'router'
    | 'controller'
    | 'token'
    | 'scope'
    | 'webhooks'
    | 'runner'
    | 'project'
    | 'pipeline'
    | 'admitted'
    | 'rejected'
    | 'patience';
  /** `planned`: a run that may change would do it. */
  readonly standing: 'right' | 'done' | 'planned' | 'wrong' | 'unknown';
  readonly says: string;
  readonly remedy?: string;
  /** Only of refusals: GitLab did not answer, and a later run may find out. */
  readonly silent?: true;
}

/** A refusal of GitLab's as a line. */
export const refused = (part: SetupLine['part'], { code, says, remedy }: AdminRefusal): SetupLine => ({
  part,
  standing: 'wrong',
  says,
  remedy,
  ...((code === 'unavailable' || code === 'rate_limited') && { silent: true }),
});

/** `change` may change GitLab, `plan` says what it would do, `look` says what is wrong. */
export type SetupMode = 'change' | 'plan' | 'look';

/** Settings of a set-up. */
export interface SetupCourse {
  readonly gitlab: GitLabAdministration;
  readonly store: SecretStore;
  readonly mode: SetupMode;
  /** The controller's description, and the webhooks' name. */
  readonly name: string;
  /** By number, where the description does not say which. */
  readonly controllerId: number | undefined;
  /** Scope of the controller; all empty: the existing one, else the instance. */
  readonly scope: {
    readonly instance: boolean;
    readonly runnerIds: readonly number[];
    /** Instance runners with all these tags. */
    readonly tags: readonly string[];
    /** Runners of the instance that this user made. */
    readonly owner: string | undefined;
  };
  readonly hooks: {
    /** The deployment's webhook address. Undefined: the pilot, which uses estimated durations. */
    readonly url: string | undefined;
  };
  /** Some runner's: it asks GitLab where runners are sent. */
  readonly runnerToken: string | undefined;
  readonly nowMs: () => number;
  /** So many of so many groups are looked at. */
  readonly progress: (done: number, of: number) => void;
}

/** A deviation that was not changed. */
export const notThere = (part: SetupLine['part'], mode: SetupMode, would: string, is: string): SetupLine =>
  mode === 'look'
    ? { part, standing: 'wrong', says: is, remedy: 'tollgate gitlab setup' }
    : { part, standing: 'planned', says: would };
