import type { CloudFormation, StackAction } from './cloudformation.ts';

export interface MendDeps extends CloudFormation {
  /** Waits before the next look at a stack that is being changed. */
  readonly pause: () => Promise<void>;
  readonly tell: (text: string) => void;
}

/** An hour. No change of these stacks takes longer. */
const PAUSES_MAX = 720;

/** `ask` is left to a person, as is an action that does not help. */
type Mend = readonly [
  states: RegExp,
  action: StackAction | 'wait' | 'update' | 'ask',
  says: string,
  remedy: string,
];

/** The first that matches "STACK STATUS" counts. `cdk deploy` copes with all other states, also with REVIEW_IN_PROGRESS. */
const MENDS: readonly Mend[] = [
  [/ (?!REVIEW_)\w+_IN_PROGRESS$/, 'wait', 'is being changed; waiting for its end', 'deploy again'],
  // It asks GitLab first, and only a user decides to go on with an empty table.
  [/ DELETE_FAILED$/, 'ask', 'could not be deleted', 'npm run destroy (--with-state for the state stack)'],
  [
    // A state stack that was never made leaves an empty table and bucket, and their generated names are in nothing's way.
    / (?:ROLLBACK_COMPLETE|ROLLBACK_FAILED|CREATE_FAILED)$/,
    'DeleteStack',
    'was never made; it is deleted and created again',
    'aws cloudformation delete-stack --stack-name STACK',
  ],
  [
    / UPDATE_FAILED$/,
    'RollbackStack',
    'was left half updated; it goes back first',
    'aws cloudformation rollback-stack --stack-name STACK',
  ],
  [
    / UPDATE_ROLLBACK_FAILED$/,
    'ContinueUpdateRollback',
    'could not go back after a failed update; trying again',
    'aws cloudformation continue-update-rollback --stack-name STACK --resources-to-skip LOGICAL_ID',
  ],
  [/ UPDATE_ROLLBACK_COMPLETE$/, 'update', 'went back after a failed update; it is updated again', ''],
  [/ IMPORT_ROLLBACK_FAILED$/, 'ask', 'could not undo an import', 'import again'],
];

/** Brings a stack into a state that takes an update, with each action once. @returns its status, or the problem left to a person */
export async function mendStack(stack: string, deps: MendDeps) {
  const tried = new Set<string>();
  for (let pauses = 0; ; pauses += 1) {
    const status = (await deps.status(stack)) ?? '';
    const mend = MENDS.find(([states]) => states.test(`${stack} ${status}`));
    if (mend === undefined) return { status };
    const [, action, says, remedy] = mend;
    const events = `"aws cloudformation describe-stack-events --stack-name ${stack}"`;
    const left = `mend what ${events} names, then: ${remedy.replaceAll('STACK', stack)}`;
    const isRepeated = tried.has(action);
    if (action === 'ask' || pauses === PAUSES_MAX || (isRepeated && action !== 'wait'))
      return { problem: `${stack} (${status}) ${says}; ${left}` };
    const why = isRepeated ? undefined : await deps.whyFailed(stack).catch(() => undefined);
    if (!isRepeated)
      deps.tell(`${stack} (${status}) ${says}${why === undefined ? '' : `. It had failed: ${why}`}`);
    tried.add(action);
    if (action === 'update') return { status };
    try {
      if (action === 'DeleteStack') await deps.protect(stack, false);
      await (action === 'wait' ? deps.pause() : deps.act(action, stack));
    } catch (error) {
      return { problem: `${error instanceof Error ? error.message : error}; ${left}` };
    }
  }
}
