import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDeployments } from '../../../cdk/settings/read-deployments.ts';
import { deployments } from '../../../cdk/tollgate.config.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { stackProtection, stackStatus } from '../../build/cloudformation.ts';
import { askWhetherArmed, destroy } from '../../build/destroy-deployment.ts';
import { preflight } from '../../build/preflight.ts';
import { createRunnerControllers } from '../../cli/controller/runner-controllers.ts';
import {
  cdk,
  deployArgs,
  fetchFor,
  REHEARSAL_STAGE,
  type RehearsalPlace,
  SERVICE_STACK,
} from './deployed.ts';
import { expectEqual } from './step.ts';

/** Names the stack whose creation fails in the emulator. */
export const failingFile = (folder: string): string => join(folder, 'failing-stack');

const cloudFormationOf = ({ emulator }: RehearsalPlace) => ({
  endpoint: emulator.endpoint,
  signedFetch: fetchFor('cloudformation'),
});

export async function rehearseFailedCreation(place: RehearsalPlace): Promise<string> {
  const cloudFormation = cloudFormationOf(place);
  const status = stackStatus(cloudFormation);
  writeFileSync(failingFile(place.folder), SERVICE_STACK);
  const failed = await cdk(place, ...deployArgs(place));
  rmSync(failingFile(place.folder));
  expectEqual(
    'a first deployment that fails',
    [failed.code, await status(SERVICE_STACK)],
    [1, 'ROLLBACK_COMPLETE'],
  );

  const again = await cdk(place, ...deployArgs(place));
  expectEqual(
    'the same again, by cdk alone',
    [again.code, /TerminationProtection/i.test(again.text)],
    [1, true],
  );

  const context = { stage: 'prod', gitlabDescriptors: place.descriptors };
  const [settings] = readDeployments(deployments, context);
  if (settings === undefined) throw new Error('no settings');
  const told: string[] = [];
  const goesOn = await preflight(settings, {
    status,
    protection: stackProtection(cloudFormation),
    missingParameters: async () => [],
    unreservedConcurrency: async () => 1_000,
    tell: (text) => told.push(text),
  });
  expectEqual('what npm run deploy looks at', goesOn, true);
  return told.join('\n');
}

/** Runs `npm run destroy` with a GitLab whose controller has this state. */
export async function destroyWhile(place: RehearsalPlace, state: string, withState: boolean) {
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
    stage: REHEARSAL_STAGE,
    gitlabUrl: 'https://gitlab.example.com',
    withState,
    askWhetherArmed: () => askWhetherArmed(controllers, 7),
    protection: stackProtection(cloudFormationOf(place)),
    cdkDestroy: (stack) => cdk(place, 'destroy', stack, '--exclusively', '--force'),
    tell: (text) => told.push(text),
  });
  return { code, told: told.join('\n') };
}
