/** A first deployment that fails, and what makes the next one possible. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDeployments } from '../../../cdk/settings/read-deployments.ts';
import { deployments } from '../../../cdk/tollgate.config.ts';
import { preflight } from '../../build/deploy/preflight.ts';
import { stackStatus } from '../../build/deploy/stack-state.ts';
import { stackProtection } from '../../build/destroy/stack-protection.ts';
import { REHEARSAL_REGION, type RehearsalPlace, SERVICE_STACK } from './deployed.ts';
import { cdk } from './emulated-cdk.ts';
import { expectEqual } from './step.ts';

/** Names the stack whose creation the emulator lets fail. */
export const failingFile = (folder: string): string => join(folder, 'failing-stack');

/** CloudFormation of the emulator, which checks no signature. */
export const cloudFormationOf = ({ emulator }: Pick<RehearsalPlace, 'emulator'>) => ({
  endpoint: emulator.endpoint,
  signedFetch: (url: string, init: RequestInit): Promise<Response> => {
    const scope = `rehearsal/20260101/${REHEARSAL_REGION}/cloudformation/aws4_request`;
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
    return fetch(url, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init.headers)), authorization },
    });
  },
});

/** @param deployArgs - of `cdk deploy` for both stacks. */
export async function rehearseFailedCreation(
  place: RehearsalPlace,
  deployArgs: readonly string[],
): Promise<string> {
  const cloudFormation = cloudFormationOf(place);
  const status = stackStatus(cloudFormation);
  writeFileSync(failingFile(place.folder), SERVICE_STACK);
  const failed = await cdk(place, ...deployArgs);
  rmSync(failingFile(place.folder));
  expectEqual(
    'a first deployment that fails',
    [failed.code, await status(SERVICE_STACK)],
    [1, 'ROLLBACK_COMPLETE'],
  );

  const again = await cdk(place, ...deployArgs);
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
