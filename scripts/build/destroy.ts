/** `npm run destroy`: takes a deployment away, unless GitLab would fail jobs for want of it. */
import { resolve } from 'node:path';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { Settings } from '../../cdk/settings/deployment.ts';
import { readDeployments, SettingsError } from '../../cdk/settings/read-deployments.ts';
import { deployments } from '../../cdk/tollgate.config.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { ssmText } from '../../functions/core/environment/secrets.ts';
import { createRunnerControllers } from '../cli/controller/controller-command.ts';
import { UsageError } from '../terminal/command.ts';
import { runCdk } from './cdk-cli.ts';
import { openCloudFormation } from './cloudformation.ts';
import {
  type ArmedState,
  askWhetherArmed,
  DESTROY_HELP,
  destroy,
  gitLabToken,
  readDestroyOptions,
} from './destroy-deployment.ts';

const { env } = process;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(DESTROY_HELP);
    return 0;
  }
  const options = readDestroyOptions(args);
  const all = readDeployments(deployments, options.stage === undefined ? {} : { stage: options.stage });
  const [settings, ...others] = all;
  if (settings === undefined || others.length > 0)
    throw new UsageError(`--stage is missing: expected one of ${all.map((each) => each.stage).join(', ')}`);
  if (settings.region !== undefined) env.AWS_REGION = settings.region;
  const { region, credentials } = new SSMClient({}).config;
  return destroy({
    stage: settings.stage,
    gitlabUrl: settings.gitlab.url,
    withState: options['with-state'],
    askWhetherArmed: options['without-asking-gitlab'] ? undefined : () => ask(settings, options),
    protect: openCloudFormation(await region(), credentials).protect,
    cdkDestroy: (stack) => {
      const args = ['destroy', stack, '--exclusively', '-c', `stage=${settings.stage}`];
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
  return askWhetherArmed(createRunnerControllers(calls), gitlab.controllerId);
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  const wrongUsage = error instanceof UsageError || error instanceof SettingsError;
  console.error(error instanceof Error ? error.message : error);
  if (wrongUsage) console.error('See: npm run destroy -- --help');
  process.exit(wrongUsage ? 3 : 1);
}
