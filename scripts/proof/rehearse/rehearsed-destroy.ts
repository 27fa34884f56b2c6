import { systemClock } from '../../../functions/core/environment/index.ts';
import { askWhetherArmed } from '../../build/destroy/armed.ts';
import { destroy } from '../../build/destroy/destroy.ts';
import { stackProtection } from '../../build/destroy/stack-protection.ts';
import { createRunnerControllers } from '../../cli/controller/runner-controllers.ts';
import * as deployed from './deployed.ts';
import { cdk } from './emulated-cdk.ts';
import { cloudFormationOf } from './failed-creation.ts';

type Place = deployed.RehearsalPlace;

/** `npm run destroy` with a GitLab that says this about its one controller. */
export async function destroyWhile(place: Place, state: string, withState: boolean) {
  const told: string[] = [];
  const gitlab: typeof fetch = async () =>
    Response.json({ id: 7, description: 'tollgate', state, connected: true });
  const controllers = createRunnerControllers({
    baseUrl: 'https://gitlab.example.com',
    token: async () => 'a-token',
    fetch: gitlab,
    clock: systemClock,
  });
  const code = await destroy({
    stage: deployed.REHEARSAL_STAGE,
    gitlabUrl: 'https://gitlab.example.com',
    withState,
    askWhetherArmed: () => askWhetherArmed(controllers, 7),
    protection: stackProtection(cloudFormationOf(place)),
    cdkDestroy: (stack) => cdk(place, 'destroy', stack, '--exclusively', '--force'),
    tell: (text) => told.push(text),
  });
  return { code, told: told.join('\n') };
}
