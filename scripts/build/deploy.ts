/** `npm run deploy`: looks at what would make a deployment fail, then `cdk deploy --all` with the same arguments. */
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { Settings } from '../../cdk/settings/deployment.ts';
import { readDeployments, SettingsError } from '../../cdk/settings/read-deployments.ts';
import { deployments } from '../../cdk/tollgate.config.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { signedFetch } from '../../relay/aws/signed-fetch.ts';
import { runCdk } from './cdk-cli.ts';
import { openCloudFormation } from './cloudformation.ts';
import { contextIn, type PreflightDeps, preflight } from './preflight.ts';

const { env } = process;
const TIMEOUT_MS = 15_000;

async function main(args: readonly string[]): Promise<number> {
  const chosen = readDeployments(deployments, contextIn(args));
  for (const settings of chosen) {
    const deps = await openPreflight(settings);
    if (deps !== undefined && !(await preflight(settings, deps))) return 1;
  }
  return (await runCdk(['deploy', '--all', ...args], { env, inherit: true })).code;
}

/** Uses the credentials that the SDK finds; undefined where it knows no region, which the CDK then says better. */
async function openPreflight({ region: settingsRegion }: Settings): Promise<PreflightDeps | undefined> {
  const ssm = new SSMClient(settingsRegion === undefined ? {} : { region: settingsRegion });
  const region = await ssm.config.region().catch(() => undefined);
  if (region === undefined) return undefined;
  const { credentials } = ssm.config;
  const signed = signedFetch({ fetch, credentials, region, service: 'lambda', nowMs: Date.now });
  const lambda =
    env.AWS_ENDPOINT_URL_LAMBDA ?? env.AWS_ENDPOINT_URL ?? `https://lambda.${region}.amazonaws.com`;
  return {
    ...openCloudFormation(region, credentials),
    async missingParameters(names) {
      // Not decrypted: only whether they are there.
      const command = new GetParametersCommand({ Names: [...names], WithDecryption: false });
      const answer = await ssm.send(command, { abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
      return answer.InvalidParameters ?? [];
    },
    async unreservedConcurrency() {
      const url = `${lambda}/2016-08-19/account-settings/`;
      const response = await signed(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      const answer: unknown = await response.json();
      const limit = isRecord(answer) && isRecord(answer.AccountLimit) ? answer.AccountLimit : {};
      const unreserved = limit.UnreservedConcurrentExecutions;
      if (typeof unreserved !== 'number') throw new Error(`HTTP ${response.status}`);
      return unreserved;
    },
    tell: (text) => console.log(text),
  };
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(error instanceof SettingsError ? 3 : 1);
}
