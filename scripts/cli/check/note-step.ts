import { systemClock } from '../../../functions/core/environment/index.ts';
import { checkBaseUrl, GitLabError, keepNote } from '../../../functions/core/gitlab/index.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { commandFetch } from '../command-fetch.ts';

/**
 * Updates the merge request's note, by GitLab's variables in the job. Without a token, as in forks, it does
 * nothing.
 *
 * @throws {UsageError} with a token, outside a merge request's pipeline.
 */
export async function noteStep(
  text: string,
  { env, err }: Pick<TerminalIo, 'env' | 'err'>,
  send: typeof fetch = commandFetch({ env }),
): Promise<ExitCode> {
  const token = env.TOLLGATE_NOTE_TOKEN;
  if (token === undefined || token === '') {
    err('--note: no TOLLGATE_NOTE_TOKEN, so the merge request gets no note\n');
    return EXIT.ok;
  }
  const baseUrl = given(env, 'CI_SERVER_URL');
  const projectId = given(env, 'CI_MERGE_REQUEST_PROJECT_ID');
  const mergeRequestIid = given(env, 'CI_MERGE_REQUEST_IID');
  const pipelineId = Number(given(env, 'CI_PIPELINE_ID'));
  if (!Number.isSafeInteger(pipelineId)) throw new UsageError('--note: CI_PIPELINE_ID is no number');
  try {
    checkBaseUrl(baseUrl);
    const deps = { baseUrl, token: async () => token, fetch: send, clock: systemClock };
    // A run of a newer pipeline has the last word.
    await keepNote(text, { projectId, mergeRequestIid, about: 'check, pipeline', version: pipelineId }, deps);
    return EXIT.ok;
  } catch (error) {
    err(`--note: the merge request's note may be out of date: ${reasonText(error)}\n`);
    return EXIT.failed;
  }
}

function given(env: TerminalIo['env'], name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new UsageError(`--note: ${name} is not set; expected a job of a merge request's pipeline`);
}

function reasonText(error: unknown): string {
  if (error instanceof GitLabError && error.code === 'gitlab_refused')
    return `GitLab refuses TOLLGATE_NOTE_TOKEN${error.status === undefined ? '' : ` (${error.status})`}; expected a project or group token with the scope api and the role Developer`;
  return error instanceof Error ? error.message : String(error);
}
