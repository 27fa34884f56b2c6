import { join } from 'node:path';
import { type CdkRun, runCdk } from './cdk-cli.ts';
import type { Place } from './deployed.ts';

const IMAGE = `registry.example.com/tollgate/relay@sha256:${'a'.repeat(64)}`;
/** One call of the command line against an emulator takes 5 to 15 s. */
const CDK_MS_MAX = 240_000;

/** One call of the command line against the emulator, whatever comes of it. */
export async function cdk(place: Place, ...args: readonly string[]): Promise<CdkRun> {
  const settings = ['-c', `relayImage=${IMAGE}`, '--output', join(place.folder, 'cdk.out')];
  return runCdk([...args, ...settings], { env: place.awsEnv, timeoutMs: CDK_MS_MAX });
}

/** @throws {Error} with what it said, when it fails or breaks the emulator. */
export async function cdkMust(place: Place, ...args: readonly string[]): Promise<string> {
  const { code, text } = await cdk(place, ...args);
  const crashes = place.emulator.crashes();
  if (code !== 0 || crashes.length > 0)
    throw new Error(`cdk ${args.join(' ')} ended with ${code}\n${[...tail(text), ...crashes].join('\n')}`);
  return text;
}

const tail = (text: string): readonly string[] => text.trim().split('\n').slice(-15);
/** `cdk deploy` of both stacks. */
export const deploy = (place: Place, ...settings: readonly string[]): Promise<string> =>
  cdkMust(
    place,
    ...['deploy', '--all', '--method=direct', '--require-approval', 'never'],
    ...['--outputs-file', join(place.folder, 'outputs.json'), ...settings],
  );
