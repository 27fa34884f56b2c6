import type { AdminRefusal } from '../../../functions/core/gitlab/index.ts';

/** What one part of the set-up is like, or what became of it. */
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
    | 'webhooks';
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

/** What is not as it should be and was not touched. */
export const notThere = (part: SetupLine['part'], mode: SetupMode, would: string, is: string): SetupLine =>
  mode === 'look'
    ? { part, standing: 'wrong', says: is, remedy: 'tollgate gitlab setup' }
    : { part, standing: 'planned', says: would };
