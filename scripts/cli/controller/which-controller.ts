import { CANARY_DESCRIPTION } from '../../../functions/core/gitlab/index.ts';
import { UsageError } from '../../terminal/command.ts';
import type { RunnerController, RunnerControllers } from './runner-controllers.ts';

/**
 * Finds the controller by number, or the only one. The temporary one of a running canary is ignored.
 *
 * @throws {UsageError} without a number if there are several, or none.
 */
export async function whichController(
  controllers: RunnerControllers,
  wanted: number | undefined,
): Promise<RunnerController> {
  if (wanted !== undefined) return controllers.get(wanted);
  const all = (await controllers.list()).filter(({ description }) => description !== CANARY_DESCRIPTION);
  const [only, ...others] = all;
  if (only === undefined) throw new UsageError('GitLab has no runner controller');
  if (others.length > 0) {
    const told = all.map(({ id, description, state }) => `${id} "${description}" ${state}`).join(', ');
    throw new UsageError(`--controller is missing: GitLab has several, ${told}`);
  }
  // A listing does not say whether it is connected.
  return controllers.get(only.id);
}
