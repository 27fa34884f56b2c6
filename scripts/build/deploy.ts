/** `npm run deploy`: looks at what would make a deployment fail, or has failed the last one, then `cdk deploy --all` with the same arguments. */
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import { concurrencyOf, programRows } from '../../cdk/constructs/program-rows.ts';
import { type Settings, stackNames } from '../../cdk/settings/deployment.ts';
import { readDeployments, SettingsError } from '../../cdk/settings/read-deployments.ts';
import { deployments } from '../../cdk/tollgate.config.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { signedFetch } from '../../relay/aws/signed-fetch.ts';
import { runCdk } from './cdk-cli.ts';
import { type CloudFormation, openCloudFormation } from './cloudformation.ts';

interface PreflightDeps extends CloudFormation {
  readonly missingParameters: (names: readonly string[]) => Promise<readonly string[]>;
  readonly unreservedConcurrency: () => Promise<number>;
  readonly tell: (text: string) => void;
}

/** A creation that was undone: the stack has a name and nothing in it. */
const NEVER_MADE = new Set(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED']);

/** Returns whether to go on. It lifts the protection of a stack whose creation failed. A check that cannot run stops nothing. */
export async function preflight(settings: Settings, deps: PreflightDeps): Promise<boolean> {
  const { stage } = settings;
  const reportUnchecked = (what: string) => (error: unknown) => {
    deps.tell(`${what} could not be looked at: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  };
  const problems: string[] = [];
  let first = false;
  for (const stack of stackNames(stage)) {
    const status = await deps.status(stack).catch((error) => reportUnchecked(stack)(error) ?? 'unknown');
    if (status === undefined || NEVER_MADE.has(status)) first = true;
    if (status !== undefined) problems.push(...(await stackProblems(stack, status, deps)));
  }
  const missing = await deps
    .missingParameters(listSecrets(settings))
    .catch(reportUnchecked('Parameters in SSM'));
  if (missing !== undefined && missing.length > 0)
    problems.push(
      `no such parameter in SSM: ${missing.join(', ')}; the relays and functions do not start or do not work without. Put them there first: "First set-up" in cdk/RUNBOOK.md`,
    );
  const unreserved = first
    ? await deps.unreservedConcurrency().catch(reportUnchecked('Concurrency of Lambda'))
    : undefined;
  const needed = reservedConcurrency(settings) + UNRESERVED_MIN;
  if (unreserved !== undefined && unreserved < needed)
    problems.push(
      `Lambda may run ${unreserved} concurrent functions here, and ${needed} are needed; ask for more: "Concurrency of the account" in cdk/RUNBOOK.md`,
    );
  for (const problem of problems) deps.tell(`${stage}: ${problem}`);
  return problems.length === 0;
}

async function stackProblems(
  stack: string,
  status: string,
  { protect, tell }: PreflightDeps,
): Promise<readonly string[]> {
  if (NEVER_MADE.has(status)) {
    await protect(stack, false);
    tell(
      `${stack} is left from a first deployment that failed (${status}): it is deleted and created again.`,
    );
    return [];
  }
  if (status === 'UPDATE_ROLLBACK_FAILED')
    return [
      `${stack} could not go back (${status}): aws cloudformation continue-update-rollback --stack-name ${stack}`,
    ];
  if (status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS')
    return [`${stack} is being changed (${status}); wait for its end`];
  return [];
}

function listSecrets({ parameters, watchdog, console }: Settings): readonly string[] {
  const { webhookTokens, webhookSecrets, hookToken, chatWebhooks, approvalKey } = parameters;
  return [
    ...[parameters.routerToken, parameters.gitlabToken],
    // As long as nothing is signed, there need be no signing token.
    webhookTokens ?? webhookSecrets,
    ...[hookToken, chatWebhooks, approvalKey].filter((each) => each !== undefined),
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

if (import.meta.main)
  try {
    process.exit(await main(process.argv.slice(2)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(error instanceof SettingsError ? 3 : 1);
  }
