/** `npm run destroy`: takes a deployment away, unless GitLab would fail jobs for want of it. */
import { resolve } from 'node:path';
import { SSMClient } from '@aws-sdk/client-ssm';
import { type Settings, stackNames } from '../../cdk/settings/deployment.ts';
import { readDeployments, SettingsError } from '../../cdk/settings/read-deployments.ts';
import { deployments } from '../../cdk/tollgate.config.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { ssmText } from '../../functions/core/environment/secrets.ts';
import { GitLabError } from '../../functions/core/gitlab/gitlab.ts';
import {
  createRunnerControllers,
  type RunnerController,
  type RunnerControllers,
} from '../cli/controller/controller-command.ts';
import { readTokenFile } from '../cli/reconcile/gitlab-flags.ts';
import { UsageError } from '../terminal/command.ts';
import { flagLines, parseInput, text, toggle } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { type CdkRun, runCdk } from './cdk-cli.ts';
import { type CloudFormation, openCloudFormation } from './cloudformation.ts';

interface DestroyDeps {
  readonly stage: string;
  readonly gitlabUrl: string;
  readonly withState: boolean;
  /** Undefined: it shall not be asked. */
  readonly readArmedState: (() => Promise<ArmedState>) | undefined;
  readonly protect: CloudFormation['protect'];
  /** `cdk destroy` for the stack of a path such as `Tollgate-prod/Relays`, with its own confirmation by default. */
  readonly cdkDestroy: (path: string) => Promise<Pick<CdkRun, 'code'>>;
  readonly tell: (text: string) => void;
}

/** Exit code: 2 if the controller is enabled, 1 if unknown or a stack remains. */
export async function destroy(deps: DestroyDeps): Promise<0 | 1 | 2> {
  const { stage, gitlabUrl, tell } = deps;
  const armed = (await deps.readArmedState?.()) ?? { kind: 'disarmed' };
  if (armed.kind !== 'disarmed') {
    tell(refusalText(armed, gitlabUrl));
    return armed.kind === 'armed' ? 2 : 1;
  }
  // In reverse: CloudFormation keeps what another stack still needs.
  const [state, ...running] = stackNames(stage);
  const stacks = [...running.toReversed(), ...(deps.withState ? [state] : [])];
  for (const stack of stacks) if (!(await destroyOne(stack, deps))) return 1;
  tell(
    'The table with the books, its backups and the secrets in SSM are still there; nothing here deletes them. ' +
      `Deploying ${stage} again ${deps.withState ? 'makes a new, empty table and another address of webhooks' : 'goes on with these books, and webhooks keep their address'}.`,
  );
  return 0;
}

async function destroyOne(stack: string, { protect, cdkDestroy, tell }: DestroyDeps): Promise<boolean> {
  if (!(await protect(stack, false))) {
    tell(`${stack} is not there.`);
    return true;
  }
  let code = 1;
  try {
    ({ code } = await cdkDestroy(stack.replace(/-(?=\w+$)/, '/')));
  } finally {
    // A declined confirmation keeps the stack. A deleted stack cannot be protected.
    const remains = await protect(stack, true).catch(() => code !== 0);
    if (remains) {
      code = 1;
      tell(`${stack} is still there, and protected again.`);
    }
  }
  return code === 0;
}

export type ArmedState =
  | { readonly kind: 'disarmed' }
  | { readonly kind: 'armed'; readonly controller: RunnerController }
  | { readonly kind: 'unknown'; readonly why: string };

/** If the settings do not name our controller, any enabled one counts: to ask once too often is harmless. */
export async function readArmedState(
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

function refusalText(armed: Exclude<ArmedState, { kind: 'disarmed' }>, gitlabUrl: string): string {
  const disarm = (id: string): string =>
    `npx tollgate controller dry-run --gitlab ${gitlabUrl} --token-file <file> --controller ${id}`;
  if (armed.kind === 'armed') {
    const { id } = armed.controller;
    return (
      `Nothing was destroyed: runner controller ${id} at ${gitlabUrl} is enabled. Without a relay GitLab would fail every job ` +
      `that it asks about. Disarm it first:\n\n  ${disarm(String(id))}\n\nand run this again. If it is not the controller of ` +
      'this deployment, set gitlab.controllerId in its settings.'
    );
  }
  return (
    `Nothing was destroyed: whether the runner controller is enabled is unknown (${armed.why}). If it is, GitLab fails ` +
    'every job that it asks about as soon as the last relay is gone. Make GitLab answer and run this again. If you know that ' +
    `it is not enabled, --without-asking-gitlab destroys without asking. This disarms it:\n\n  ${disarm('<id>')}`
  );
}

const FLAGS = {
  stage: text('<stage>', 'which deployment of cdk/tollgate.config.ts; not needed if there is one'),
  'token-file': text(
    '<file>',
    "holds a token that may read runner controllers (an administrator's). Else the SSM parameters controllerToken and gitlabToken of the settings",
  ),
  'with-state': toggle('also the state stack'),
  yes: toggle('asks no question on the terminal'),
  'without-asking-gitlab': toggle('destroys even if jobs fail because of it'),
};

const USAGE = `npm run destroy -- [--stage <stage>] [flags]

Takes a deployment away: the stacks of relays and functions. The state stack is kept unless --with-state is given: the table and the
receiver of webhooks. The table is kept even then. Refuses while GitLab's runner controller is enabled, because without
a relay GitLab fails every job it asks about; also when GitLab does not say.

${flagLines(FLAGS)}

Exit codes: 0 destroyed, 1 it failed or GitLab did not say, 2 refused: the controller is enabled, 3 wrong usage`;

/** @throws {UsageError} */
export const readDestroyOptions = (args: readonly string[]) => parseInput(args, FLAGS, {}).flags;

/** Reads GitLab's token from the file, else from the first parameter that exists. @throws {UsageError} */
export async function gitLabToken(
  file: string | undefined,
  parameters: readonly string[],
  readParameter: (name: string) => Promise<string>,
): Promise<string | undefined> {
  if (file !== undefined) return readTokenFile(file, file);
  for (const name of parameters) {
    const [token = ''] = (await readParameter(name).catch(() => '')).trim().split('\n');
    if (token !== '') return token;
  }
  return undefined;
}

const { env } = process;

async function main(args: readonly string[]): Promise<number> {
  const options = readDestroyOptions(args);
  const all = readDeployments(deployments, options.stage === undefined ? {} : { stage: options.stage });
  const [settings, ...others] = all;
  if (settings === undefined || others.length > 0)
    throw new UsageError(`--stage is missing: expected one of ${all.map((each) => each.stage).join(', ')}`);
  if (settings.region !== undefined) env.AWS_REGION = settings.region;
  const { region, credentials } = new SSMClient({}).config;
  const place = await region().catch(() => {
    throw new UsageError('which region? Set AWS_REGION, or region in cdk/tollgate.config.ts');
  });
  return destroy({
    stage: settings.stage,
    gitlabUrl: settings.gitlab.url,
    withState: options['with-state'],
    readArmedState: options['without-asking-gitlab'] ? undefined : () => ask(settings, options),
    protect: openCloudFormation(place, credentials).protect,
    cdkDestroy: (path) => {
      const args = ['destroy', path, '--exclusively', '-c', `stage=${settings.stage}`];
      return runCdk([...args, ...(options.yes ? ['--force'] : [])], { env, inherit: true });
    },
    tell: (text) => console.log(text),
  });
}

async function ask(
  { gitlab, parameters }: Settings,
  options: ReturnType<typeof readDestroyOptions>,
): Promise<ArmedState> {
  const file = options['token-file'];
  const token = await gitLabToken(
    file === undefined ? undefined : resolve(env.INIT_CWD ?? process.cwd(), file),
    [parameters.controllerToken, parameters.gitlabToken],
    ssmText,
  );
  if (token === undefined) return { kind: 'unknown', why: 'there is no token; --help says where it may be' };
  const calls = { baseUrl: gitlab.url, token: async () => token, fetch, clock: systemClock };
  return readArmedState(createRunnerControllers(calls), gitlab.controllerId);
}

if (import.meta.main)
  await runProgram(main, 'npm run destroy -- --help', {
    usage: USAGE,
    isInput: (error) => error instanceof SettingsError,
  });
