import type { CloudFormation, StackAction } from './cloudformation.ts';

export interface MendDeps extends CloudFormation {
  /** Waits before the next look at a stack that is being changed. */
  readonly pause: () => Promise<void>;
  readonly tell: (text: string) => void;
}

/** An hour of pauses: no operation of these stacks takes longer. */
const PAUSES_MAX = 720;
const EVENTS = '"aws cloudformation describe-stack-events --stack-name STACK"';
const DELETE = `remove what ${EVENTS} names, then: aws cloudformation delete-stack --stack-name STACK`;

interface Mend {
  /** Matches "STACK STATUS". */
  readonly states: RegExp;
  readonly says: string;
  /** Absent: a person has to decide. */
  readonly action?: StackAction | 'wait' | 'update';
  /** Also if the action did not help. */
  readonly remedy: string;
}

/** The first match counts. `cdk deploy` copes with all other states, also with REVIEW_IN_PROGRESS. */
const MENDS: readonly Mend[] = [
  {
    states: / (?!REVIEW_)\w+_IN_PROGRESS$/,
    says: 'is being changed, perhaps by another deployment; waiting for its end',
    action: 'wait',
    remedy: `it did not end in an hour: see ${EVENTS}`,
  },
  {
    // The table, bucket and log that it keeps are empty, and their generated names are in nothing's way.
    states: / (?:ROLLBACK_COMPLETE|ROLLBACK_FAILED|CREATE_FAILED)$/,
    says: 'is left from a first deployment that failed; it is deleted and created again',
    action: 'DeleteStack',
    remedy: DELETE,
  },
  {
    // Only a new stack can follow, with an empty table.
    states: /-State DELETE_FAILED$/,
    says: 'could not be deleted',
    remedy: `${DELETE}; its table is kept, and the next deployment begins with an empty one`,
  },
  {
    states: / DELETE_FAILED$/,
    says: 'could not be deleted; trying again',
    action: 'DeleteStack',
    remedy: DELETE,
  },
  {
    states: / UPDATE_FAILED$/,
    says: 'was left half updated; it goes back first',
    action: 'RollbackStack',
    remedy: 'go back: aws cloudformation rollback-stack --stack-name STACK',
  },
  {
    states: / UPDATE_ROLLBACK_FAILED$/,
    says: 'could not go back after a failed update; trying again',
    action: 'ContinueUpdateRollback',
    remedy: `mend what ${EVENTS} names and deploy again, or leave it as it is: aws cloudformation continue-update-rollback --stack-name STACK --resources-to-skip LOGICAL_ID`,
  },
  {
    states: / UPDATE_ROLLBACK_COMPLETE$/,
    says: 'went back after a failed update; it is updated again',
    action: 'update',
    remedy: '',
  },
  {
    states: / IMPORT_ROLLBACK_FAILED$/,
    says: 'could not undo an import',
    remedy: `mend what ${EVENTS} names, then import again`,
  },
];

/** Brings a stack into a state that takes an update, with each action once. @returns its status, and the problem that is left to a person */
export async function mendStack(
  stack: string,
  deps: MendDeps,
): Promise<{ readonly status?: string; readonly problem?: string }> {
  const told = new Set<string>();
  for (let pauses = 0; ; ) {
    const status = (await deps.status(stack)) ?? '';
    const mend = MENDS.find(({ states }) => states.test(`${stack} ${status}`));
    if (mend === undefined) return { status };
    const { action, says } = mend;
    const isRepeated = told.has(says);
    const remedy = mend.remedy.replaceAll('STACK', stack);
    if (action === undefined || pauses === PAUSES_MAX || (isRepeated && action !== 'wait'))
      return { problem: `${stack} (${status}) ${says}; ${remedy}` };
    told.add(says);
    if (action === 'wait') {
      if (!isRepeated) deps.tell(`${stack} (${status}) ${says}`);
      pauses += 1;
      await deps.pause();
      continue;
    }
    const why = (await deps.whyFailed(stack).catch(() => undefined)) ?? '';
    deps.tell(`${stack} (${status}) ${says}${why === '' || told.has(why) ? '' : `. It had failed: ${why}`}`);
    told.add(why);
    if (action === 'update') return { status };
    try {
      if (action === 'DeleteStack') await deps.protect(stack, false);
      await deps.act(action, stack);
    } catch (error) {
      return { problem: `${error instanceof Error ? error.message : error}; ${remedy}` };
    }
  }
}
