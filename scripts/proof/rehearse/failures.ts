import { systemClock } from '../../../functions/core/environment/environment.ts';
import { type Deployment, FUNCTIONS_STACK, RELAYS_STACK, STATE_STACK } from './deployed.ts';

interface Failure {
  /** A stack, or "METHOD PATH". */
  readonly what: string;
  /** The state that the deployment leaves, or the status of the response. One that is in progress is left by a kill. */
  readonly ending: string;
  /** The next deployment says this, and goes on. */
  readonly says: string;
}

/** Each hits the deployment that recovers from the one before. */
export const FIRST_FAILURES: readonly Failure[] = [
  { what: 'PUT /cdk-hnb659fds-assets', ending: '403', says: '' },
  { what: STATE_STACK, ending: 'REVIEW_IN_PROGRESS', says: '' },
  { what: STATE_STACK, ending: 'ROLLBACK_COMPLETE', says: 'it is deleted and created again' },
  { what: FUNCTIONS_STACK, ending: 'CREATE_FAILED', says: `goes on at ${FUNCTIONS_STACK}` },
  { what: FUNCTIONS_STACK, ending: 'CREATE_IN_PROGRESS', says: 'waiting for its end' },
  { what: RELAYS_STACK, ending: 'ROLLBACK_FAILED', says: `goes on at ${RELAYS_STACK}` },
];
export const UPDATE_FAILURES: readonly Failure[] = [
  { what: RELAYS_STACK, ending: 'UPDATE_ROLLBACK_COMPLETE', says: `goes on at ${RELAYS_STACK}` },
  { what: RELAYS_STACK, ending: 'UPDATE_FAILED', says: 'it goes back first' },
  { what: RELAYS_STACK, ending: 'UPDATE_ROLLBACK_FAILED', says: 'could not go back after a failed update' },
  { what: RELAYS_STACK, ending: 'UPDATE_IN_PROGRESS', says: 'waiting for its end' },
];
const STACKS: readonly string[] = [STATE_STACK, FUNCTIONS_STACK, RELAYS_STACK];
const POLL_MS = 200;

/** Deploys again and again, and does nothing else, until nothing fails. @throws {Error} if a run did not go as expected */
export async function deployThrough(
  failures: readonly Failure[],
  { inject, startDeploy, stacks }: Deployment,
  ...args: readonly string[]
): Promise<string> {
  for (const [index, failure] of [...failures, undefined].entries()) {
    const before = failures[index - 1];
    if (failure !== undefined) inject(failure.what, failure.ending);
    const run = startDeploy(...args);
    if (isChanging(before)) {
      await Promise.race([until(async () => run.said().includes(before.says)), run.ended]);
      inject(before.what, before.ending.replace('IN_PROGRESS', 'COMPLETE'));
    }
    if (isChanging(failure)) {
      const left = async () => (await stacks.status(failure.what)) === failure.ending;
      await Promise.race([until(left), run.ended]);
      run.kill();
    }
    const { code, text } = await run.ended;
    const expected = failure === undefined ? 0 : 1;
    const done = STACKS.slice(0, Math.max(0, STACKS.indexOf(before?.what ?? '')));
    const says = [before?.says ?? '', ...done.map((stack) => `(${stack}) (no changes)`)];
    if (code !== expected || !says.every((each) => text.includes(each)))
      throw new Error(`after ${before?.ending} and with ${failure?.ending} it ended with ${code}\n${text}`);
  }
  return failures.map(({ what, ending }) => `${what} ${ending}`).join('\n');
}

const isChanging = (failure: Failure | undefined): failure is Failure =>
  /^(?:CREATE|UPDATE)_IN_PROGRESS$/.test(failure?.ending ?? '');

async function until(isSeen: () => Promise<boolean>): Promise<void> {
  while (!(await isSeen())) await systemClock.sleep(POLL_MS);
}
