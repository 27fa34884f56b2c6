import { once } from 'node:events';
import { connect } from 'node:tls';
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import { functionName } from '../../cdk/constructs/names.ts';
import { concurrencyOf, programRows } from '../../cdk/constructs/program-rows.ts';
import { type Settings, stackNames } from '../../cdk/settings/deployment.ts';
import { readDeployments, SettingsError } from '../../cdk/settings/read-deployments.ts';
import { regionMistakes } from '../../cdk/settings/region-checks.ts';
import { deployments } from '../../cdk/tollgate.config.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { signedFetch } from '../../relay/aws/signed-fetch.ts';
import { runCdk } from './cdk-cli.ts';
import { openCloudFormation } from './cloudformation.ts';
import { type MendDeps, mendStack } from './mend-stack.ts';

interface PreflightDeps extends MendDeps {
  /** The region of the deployment, also if the settings do not name it. */
  readonly region: string;
  readonly missingParameters: (names: readonly string[]) => Promise<readonly string[]>;
  /** Concurrency that the account may still reserve, and that functions of these names reserve now. */
  readonly unreservedConcurrency: () => Promise<number>;
  readonly reservedNow: (functions: readonly string[]) => Promise<number>;
  /** Rejects if nothing listens there, or with a certificate that is not trusted here. */
  readonly reach: (url: string) => Promise<void>;
}

/** Returns whether to go on, with stacks that take an update. A check that cannot run stops nothing. */
export async function preflight(settings: Settings, deps: PreflightDeps): Promise<boolean> {
  const { stage } = settings;
  const ifSeen = <T>(what: string, seen: Promise<T>): Promise<T | undefined> =>
    seen.catch((error) => {
      deps.tell(`${what} could not be looked at: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
  const problems = regionMistakes(settings, deps.region).map(([setting, remedy]) => `${setting}: ${remedy}`);
  const missing = await ifSeen('Parameters in SSM', deps.missingParameters(listSecrets(settings)));
  if (missing !== undefined && missing.length > 0)
    problems.push(
      `no such parameter in SSM: ${missing.join(', ')}; the relays and functions do not start or do not work without. Put them there first: "First set-up" in cdk/RUNBOOK.md`,
    );
  const functions = Object.keys(programRows(settings)).map((name) => functionName(stage, name));
  const found = await ifSeen(
    'Concurrency of Lambda',
    Promise.all([deps.unreservedConcurrency(), deps.reservedNow(functions)]),
  );
  const [unreserved = 0, reserved = 0] = found ?? [];
  const needed = reservedConcurrency(settings) - reserved + UNRESERVED_MIN;
  if (found !== undefined && needed > UNRESERVED_MIN && unreserved < needed)
    problems.push(
      `Lambda may run ${unreserved} concurrent functions here, and ${needed} are needed; ask for more: "Concurrency of the account" in cdk/RUNBOOK.md`,
    );
  const { routerUrl } = settings.gitlab;
  await deps.reach(routerUrl).catch((error: Error) => {
    const harmless =
      'If its network or its certificate authority is closed to this machine, that is no mistake';
    deps.tell(
      `${stage}: ${routerUrl}, the job router, is not reached from here: ${error.message}. ${harmless}; else mend gitlab.routerUrl`,
    );
  });
  // Nothing is changed before all else is right.
  const stacks = problems.length > 0 ? [] : stackNames(stage);
  const undone: string[] = [];
  for (const stack of stacks) {
    const { status = '', problem } = (await ifSeen(stack, mendStack(stack, deps))) ?? {};
    if (problem !== undefined) problems.push(problem);
    if (!DONE.test(status)) undone.push(stack);
  }
  if (undone.length > 0 && undone.length < stacks.length) deps.tell(`${stage}: goes on at ${undone[0]}`);
  for (const problem of problems) deps.tell(`${stage}: ${problem}`);
  return problems.length === 0;
}

const DONE = /^(?:CREATE|UPDATE|IMPORT|IMPORT_ROLLBACK)_COMPLETE$/;

function listSecrets({ gitlab, parameters, watchdog, console }: Settings): readonly string[] {
  const { webhookTokens, webhookSecrets, hookToken, chatWebhooks, approvalKey, proxyCredentials } =
    parameters;
  return [
    ...[parameters.routerToken, parameters.gitlabToken],
    // As long as nothing is signed, there need be no signing token.
    webhookTokens ?? webhookSecrets,
    ...[hookToken, chatWebhooks, approvalKey, gitlab.caParameter, proxyCredentials].filter(
      (each) => each !== undefined,
    ),
    ...(watchdog ? [parameters.controllerToken] : []),
    ...(console === undefined ? [] : [parameters.signInSecret, parameters.consoleToken]),
  ];
}

const UNRESERVED_MIN = 100;

export const reservedConcurrency = (settings: Settings): number =>
  Object.values(programRows(settings))
    .filter(({ isDeployed }) => isDeployed !== false)
    .reduce((sum, row) => sum + (concurrencyOf(row) ?? 0), 0);

/** Settings that stand among the arguments of the CDK command line: `-c relay.image=…`, `--context stage=prod`. */
function contextIn(args: readonly string[]): Readonly<Record<string, string>> {
  const pairs = args.flatMap((arg, index) => {
    const [, joined] = /^(?:--context=|-c=?)(.+=.*)$/.exec(arg) ?? [];
    if (joined !== undefined) return [joined];
    return arg === '-c' || arg === '--context' ? [args[index + 1] ?? ''] : [];
  });
  return Object.fromEntries(
    pairs.filter((pair) => pair.includes('=')).map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
  );
}

const { env } = process;
const TIMEOUT_MS = 15_000;
const PAUSE_MS = 5_000;

const HELP = `npm run deploy [-- --stage=<stage>] [flags of cdk deploy]

Builds the bundles, looks at what would make a deployment fail (regions, secrets in SSM, concurrency, the router's address), mends what the
last one left, then runs cdk deploy --all. After a failure, run it again: it goes on there.

  npm run deploy -- --stage=prod --require-approval never
  npm run diff                     # what would change

Exit codes: 0 done, 1 failed, 3 wrong settings`;

async function main(given: readonly string[]): Promise<number> {
  if (given.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  // The CDK would ignore it, and deploy every stage.
  const args = given.flatMap((arg) => (arg.startsWith('--stage=') ? ['-c', arg.slice(2)] : [arg]));
  if (args.includes('--stage')) throw new Error('--stage: say --stage=prod or -c stage=prod');
  const chosen = readDeployments(deployments, contextIn(args));
  for (const settings of chosen) {
    const deps = await openPreflight(settings);
    if (deps !== undefined && !(await preflight(settings, deps))) return 1;
  }
  const { code } = await runCdk(['deploy', '--all', ...args], { env, inherit: true });
  if (code !== 0) console.log('Mend what failed and run "npm run deploy" again: it goes on there.');
  return code;
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
  const ask = async (path: string): Promise<Record<string, unknown>> => {
    const response = await signed(`${lambda}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const answer: unknown = await response.json();
    // A function that is not there reserves nothing.
    if (response.ok || response.status === 404) return isRecord(answer) ? answer : {};
    throw new Error(`HTTP ${response.status}`);
  };
  return {
    ...openCloudFormation(region, credentials),
    region,
    async missingParameters(names) {
      // Not decrypted: only whether they are there.
      const command = new GetParametersCommand({ Names: [...names], WithDecryption: false });
      const answer = await ssm.send(command, { abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
      return answer.InvalidParameters ?? [];
    },
    async unreservedConcurrency() {
      const { AccountLimit } = await ask('/2016-08-19/account-settings/');
      const unreserved = isRecord(AccountLimit) ? AccountLimit.UnreservedConcurrentExecutions : undefined;
      if (typeof unreserved !== 'number') throw new Error('Lambda does not say it');
      return unreserved;
    },
    async reservedNow(functions) {
      const found = await Promise.all(
        functions.map((name) => ask(`/2019-09-30/functions/${name}/concurrency`)),
      );
      return found.reduce((sum, each) => sum + (Number(each.ReservedConcurrentExecutions) || 0), 0);
    },
    async reach(url) {
      const { hostname, port } = new URL(url);
      const socket = connect({
        host: hostname,
        port: Number(port) || 443,
        servername: hostname,
        timeout: TIMEOUT_MS,
      });
      socket.once('timeout', () => socket.destroy(new Error('no answer')));
      await once(socket, 'secureConnect').finally(() => socket.destroy());
    },
    pause: () => systemClock.sleep(PAUSE_MS),
    tell: (text) => console.log(text),
  };
}

if (import.meta.main)
  try {
    process.exit(await main(process.argv.slice(2)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(error instanceof SettingsError ? 3 : 1);
  }
