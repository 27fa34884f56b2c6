import type { CdkRun } from '../cdk-cli.ts';
import { type ArmedState, refusalText } from './armed.ts';
import type { StackProtection } from './stack-protection.ts';

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
