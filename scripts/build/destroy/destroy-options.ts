import { UsageError } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { FORCE_FLAG } from './armed.ts';

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
  const { values } = readFlags(args, {
    stage: 'text',
    controller: 'text',
    'token-file': 'text',
    'with-state': 'switch',
    'without-asking-gitlab': 'switch',
    yes: 'switch',
    context: 'texts',
  });
  for (const each of values.context)
    if (!/^[\w:@./-]+=/.test(each)) throw new UsageError(`--context "${each}": expected <name>=<value>`);
  const { controller } = values;
  return {
    stage: values.stage,
    controllerId:
      controller === undefined ? undefined : readWhole('controller', controller, 1, Number.MAX_SAFE_INTEGER),
    tokenFile: values['token-file'],
    withState: values['with-state'],
    withoutAskingGitLab: values['without-asking-gitlab'],
    yes: values.yes,
    context: values.context,
  };
}
