import { GitLabError } from '../../../functions/core/gitlab/index.ts';
import type { RunnerController, RunnerControllers } from '../../cli/controller/runner-controllers.ts';

/** Effect on jobs when the last relay stops: none, all fail, or unknown. */
export type ArmedState =
  | { readonly kind: 'disarmed' }
  | { readonly kind: 'armed'; readonly controller: RunnerController }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * Asks GitLab. Where the settings do not say which controller is ours, any one that is enabled counts: better asked once too
 * often.
 */
export async function askWhetherArmed(
  controllers: RunnerControllers,
  controllerId: number | undefined,
): Promise<ArmedState> {
  try {
    const all = controllerId === undefined ? await controllers.list() : [await controllers.get(controllerId)];
    const controller = all.find(({ state }) => state === 'enabled');
    return controller === undefined ? { kind: 'disarmed' } : { kind: 'armed', controller };
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    return { kind: 'unknown', why: error.message };
  }
}

export const FORCE_FLAG = '--without-asking-gitlab';

/** Why nothing is destroyed, and the one command that changes it. @param gitlabUrl `https://gitlab.example.com` */
export function refusalText(armed: Exclude<ArmedState, { kind: 'disarmed' }>, gitlabUrl: string): string {
  const disarm = (id: string): string =>
    `npx tollgate controller dry-run --gitlab ${gitlabUrl} --token-file <file> --controller ${id}`;
  if (armed.kind === 'armed') {
    const { id } = armed.controller;
    return (
      `Nothing was destroyed: runner controller ${id} at ${gitlabUrl} is enabled. Without a relay GitLab would fail every job ` +
      `that it asks about. Disarm it first:\n\n  ${disarm(String(id))}\n\nand run this again. If it is not the controller of ` +
      'this deployment, say which one is with --controller <id>.'
    );
  }
  return (
    `Nothing was destroyed: nobody could say whether the runner controller is enabled (${armed.why}). If it is, GitLab fails ` +
    'every job that it asks about as soon as the last relay is gone. Make GitLab answer and run this again. If you know that ' +
    `it is not enabled, ${FORCE_FLAG} destroys without asking. This disarms it:\n\n  ${disarm('<id>')}`
  );
}
