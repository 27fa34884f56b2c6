import { resolve } from 'node:path';
import { GitLabError } from '../../functions/core/gitlab/gitlab.ts';
import type { RunnerController, RunnerControllers } from '../cli/controller/runner-controllers.ts';
import { UsageError } from '../terminal/command.ts';
import { parseInput, text, texts, toggle, whole } from '../terminal/flags.ts';
import { readUserFile } from '../terminal/user-file.ts';
import type { CdkRun } from './cdk-cli.ts';
import type { StackProtection } from './cloudformation.ts';

interface DestroyDeps {
  readonly stage: string;
  readonly gitlabUrl: string;
  readonly withState: boolean;
  /** Undefined: it shall not be asked. */
  readonly askWhetherArmed: (() => Promise<ArmedState>) | undefined;
  readonly protection: StackProtection;
  /** `cdk destroy` for one stack, with its own confirmation by default. */
  readonly cdkDestroy: (stackName: string) => Promise<Pick<CdkRun, 'code'>>;
  readonly tell: (text: string) => void;
}

/** Exit code: 2 if the controller is enabled, 1 if unknown or a stack remains. */
export async function destroy(deps: DestroyDeps): Promise<0 | 1 | 2> {
  const { stage, gitlabUrl, tell } = deps;
  const armed = (await deps.askWhetherArmed?.()) ?? { kind: 'disarmed' };
  if (armed.kind !== 'disarmed') {
    tell(refusalText(armed, gitlabUrl));
    return armed.kind === 'armed' ? 2 : 1;
  }
  // The service first: CloudFormation keeps the books from under it.
  const stacks = [`Tollgate-${stage}-Service`, ...(deps.withState ? [`Tollgate-${stage}-State`] : [])];
  for (const stack of stacks) if (!(await destroyOne(stack, deps))) return 1;
  tell(
    'The table with the books, its backups and the secrets in SSM are still there; nothing here deletes them. ' +
      `Deploying ${stage} again ${deps.withState ? 'makes a new, empty table' : 'goes on with these books'}.`,
  );
  return 0;
}

async function destroyOne(stack: string, { protection, cdkDestroy, tell }: DestroyDeps): Promise<boolean> {
  if (!(await protection.set(stack, false))) {
    tell(`${stack} is not there.`);
    return true;
  }
  let code = 1;
  try {
    ({ code } = await cdkDestroy(stack));
  } finally {
    // A declined confirmation keeps the stack. A deleted stack cannot be protected.
    const remains = await protection.set(stack, true).catch(() => code !== 0);
    if (remains) {
      code = 1;
      tell(`${stack} is still there, and protected again.`);
    }
  }
  return code === 0;
}

/** Effect on jobs when the last relay stops: none, all fail, or unknown. */
export type ArmedState =
  | { readonly kind: 'disarmed' }
  | { readonly kind: 'armed'; readonly controller: RunnerController }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * Asks GitLab. Where the settings do not say which controller is ours, any one that is enabled counts: better asked once too
 * often.
 */
export async function askWhetherArmed(
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

export const FORCE_FLAG = '--without-asking-gitlab';

/** Why nothing is destroyed, and the one command that changes it. @param gitlabUrl `https://gitlab.example.com` */
export function refusalText(armed: Exclude<ArmedState, { kind: 'disarmed' }>, gitlabUrl: string): string {
  const disarm = (id: string): string =>
    `npx tollgate controller dry-run --gitlab ${gitlabUrl} --token-file <file> --controller ${id}`;
  if (armed.kind === 'armed') {
    const { id } = armed.controller;
    return (
      `Nothing was destroyed: runner controller ${id} at ${gitlabUrl} is enabled. Without a relay GitLab would fail every job ` +
      `that it asks about. Disarm it first:\n\n  ${disarm(String(id))}\n\nand run this again. If it is not the controller of ` +
      'this deployment, say which one is with --controller <id>.'
    );
  }
  return (
    `Nothing was destroyed: nobody could say whether the runner controller is enabled (${armed.why}). If it is, GitLab fails ` +
    'every job that it asks about as soon as the last relay is gone. Make GitLab answer and run this again. If you know that ' +
    `it is not enabled, ${FORCE_FLAG} destroys without asking. This disarms it:\n\n  ${disarm('<id>')}`
  );
}

export interface DestroyOptions {
  /** Undefined: the only one of cdk/tollgate.config.ts. */
  readonly stage: string | undefined;
  readonly controllerId: number | undefined;
  readonly tokenFile: string | undefined;
  /** Also the stack of the books; the table itself stays in any case. */
  readonly withState: boolean;
  readonly withoutAskingGitLab: boolean;
  /** Skips the confirmation. */
  readonly yes: boolean;
  /** `-c` of the CDK command line, `key=value`. */
  readonly context: readonly string[];
}

export const DESTROY_HELP = `npm run destroy -- [--stage <stage>] [flags]

Takes a deployment away: the service stack with relay and functions. The books stay: their stack is kept unless
--with-state is given, and the table is kept even then. Refuses while GitLab's runner controller is enabled, because without
a relay GitLab fails every job it asks about; also when GitLab does not say.

  --stage <stage>      which deployment of cdk/tollgate.config.ts; not needed if there is one
  --token-file <file>  holds a token that may read runner controllers (an administrator's). Else the environment's
                       TOLLGATE_GITLAB_TOKEN, else the SSM parameters controllerToken and gitlabToken of the settings
  --controller <id>    number of the runner controller, if the settings do not have it
  --with-state         also the state stack
  --context <k=v>      like -c of cdk, for settings that were given so; may be repeated
  --yes                asks no question on the terminal
  ${FORCE_FLAG}
                       destroys even if jobs fail because of it

Exit codes: 0 destroyed, 1 it failed or GitLab did not say, 2 refused: the controller is enabled, 3 wrong usage`;

/** @throws {UsageError} */
export function readDestroyOptions(args: readonly string[]): DestroyOptions {
  const flags = {
    stage: text('<stage>', ''),
    controller: text('<id>', '', whole(1, Number.MAX_SAFE_INTEGER)),
    'token-file': text('<file>', ''),
    'with-state': toggle(''),
    'without-asking-gitlab': toggle(''),
    yes: toggle(''),
    context: texts('<k=v>', ''),
  };
  const values = parseInput(args, flags, {}).flags;
  for (const each of values.context)
    if (!/^[\w:@./-]+=/.test(each)) throw new UsageError(`--context "${each}": expected <name>=<value>`);
  return {
    stage: values.stage,
    controllerId: values.controller,
    tokenFile: values['token-file'],
    withState: values['with-state'],
    withoutAskingGitLab: values['without-asking-gitlab'],
    yes: values.yes,
    context: values.context,
  };
}

interface TokenPlaces {
  readonly file: string | undefined;
  /** Folder the file's name is relative to. */
  readonly cwd: string;
  /** `TOLLGATE_GITLAB_TOKEN` */
  readonly environment: string | undefined;
  /** Names of SSM parameters, in this order. */
  readonly parameters: readonly string[];
  /** Reads one, decrypted; rejects where it is not there. */
  readonly readParameter: (name: string) => Promise<string>;
}

/** The first token that is there; undefined: none. @throws {UsageError} where the file that was named cannot be read. */
export async function gitLabToken(places: TokenPlaces): Promise<string | undefined> {
  const { file, cwd, environment, parameters, readParameter } = places;
  if (file !== undefined) return tokenIn(file, cwd);
  if (environment !== undefined && environment !== '') return environment;
  for (const name of parameters) {
    const [token = ''] = await readParameter(name).then(
      (text) => text.trim().split('\n'),
      () => [],
    );
    if (token !== '') return token;
  }
  return undefined;
}

function tokenIn(file: string, cwd: string): string {
  const text = readUserFile(resolve(cwd, file), `--token-file "${file}"`).trim();
  if (text === '' || /\s/.test(text))
    throw new UsageError(`--token-file "${file}": expected one token and nothing else in it`);
  return text;
}
