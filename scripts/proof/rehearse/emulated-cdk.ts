import { join } from 'node:path';
import { type CdkRun, runCdk } from '../../build/cdk-cli.ts';
import type { RehearsalPlace } from './deployed.ts';

/** Where browsers would reach the console. */
export const REHEARSAL_CONSOLE_URL = 'https://budget.example.com';
export const REHEARSAL_CLIENT_ID = '2f0a5d7c';
const IMAGE = `registry.example.com/tollgate/relay@sha256:${'a'.repeat(64)}`;
const SETTINGS = [
  `relayImage=${IMAGE}`,
  `consoleUrl=${REHEARSAL_CONSOLE_URL}`,
  `consoleClientId=${REHEARSAL_CLIENT_ID}`,
  'consoleAdminGroupId=123',
  'consoleFinanceGroupId=124',
];
/** One call of the command line against an emulator takes 5 to 15 s. */
const CDK_MS_MAX = 240_000;

/** One call of the command line against the emulator, whatever comes of it. */
export async function cdk(place: RehearsalPlace, ...args: readonly string[]): Promise<CdkRun> {
  const out = join(place.folder, 'cdk.out');
  // What is destroyed is what was deployed: there is nothing to synthesize.
  const [verb] = args;
  const from =
    verb === 'destroy'
      ? ['--app', out]
      : [
          ...[...SETTINGS, `gitlabDescriptors=${place.descriptors}`].flatMap((setting) => ['-c', setting]),
          '--output',
          out,
        ];
  return runCdk([...args, ...from], { env: place.awsEnv, timeoutMs: CDK_MS_MAX });
}

/** @throws {Error} with what it said, when it fails or breaks the emulator. */
export async function cdkMust(place: RehearsalPlace, ...args: readonly string[]): Promise<string> {
  const { code, text } = await cdk(place, ...args);
  const crashes = place.emulator.crashes();
  if (code !== 0 || crashes.length > 0)
    throw new Error(`cdk ${args.join(' ')} ended with ${code}\n${[...tail(text), ...crashes].join('\n')}`);
  return text;
}

const tail = (text: string): readonly string[] => text.trim().split('\n').slice(-15);

/** Arguments of `cdk deploy` for both stacks. */
export const deployArgs = (place: RehearsalPlace): readonly string[] => [
  ...['deploy', '--all', '--method=direct', '--require-approval', 'never'],
  ...['--outputs-file', join(place.folder, 'outputs.json')],
];

/** `cdk deploy` of both stacks. */
export const deploy = (place: RehearsalPlace, ...settings: readonly string[]): Promise<string> =>
  cdkMust(place, ...deployArgs(place), ...settings);
