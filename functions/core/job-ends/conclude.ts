/** Writes actions into the ledger, some dozens at a time. The ledger decides if they still hold: others end the same jobs. */

import { type GitLabJob, REJECTED_BY_ROUTER } from '../gitlab/gitlab.ts';
import type { EndOutcome, Ledger } from '../ledger/ledger.ts';
import { inParts } from '../store/parts.ts';
import type { JobAction } from './actions.ts';
import type { ChargeOutcome } from './charge-bypass.ts';

/** Small enough to share hot counters with admissions, large enough that ten thousand ends take seconds. */
const BATCH = 25;

/** Charges bypassed jobs. One outcome per job, same order. */
export type ChargeBypass = (gitlabJobs: readonly GitLabJob[]) => Promise<readonly ChargeOutcome[]>;

interface ConcludeDeps {
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'expire' | 'postpone'>;
  readonly chargeBypass: ChargeBypass;
  readonly tally: ConcludeTally;
  readonly chargeUnknown: 'hold' | 'nothing';
}

type ConcludeTally = ReturnType<typeof newConcludeTally>;

export const newConcludeTally = () => ({
  ...{ settled: 0, released: 0, expired: 0, postponed: 0, corrected: 0, unchanged: 0, undecided: 0 },
  ...{ bypass: 0, admittedYetFailed: [] as number[] },
});

export type ActionWriter = ReturnType<typeof createActionWriter>;

export function createActionWriter(deps: ConcludeDeps) {
  let batch: JobAction[] = [];
  const flush = async (): Promise<void> => {
    const full = batch;
    batch = [];
    await concludeAll(full, deps);
  };
  return {
    async take(action: JobAction): Promise<void> {
      batch.push(action);
      if (batch.length >= BATCH) await flush();
    },
    flush,
  };
}

export async function concludeAll(actions: readonly JobAction[], deps: ConcludeDeps): Promise<boolean> {
  const before = deps.tally.undecided;
  const acting = actions.filter((action) => action.do !== 'keep');
  for (const part of inParts(acting, BATCH)) await conclude(part, deps);
  return deps.tally.undecided === before;
}

async function conclude(
  actions: readonly JobAction[],
  { ledger, tally, chargeBypass, chargeUnknown: charge }: ConcludeDeps,
): Promise<void> {
  const all = <Do extends JobAction['do']>(kind: Do) =>
    actions.filter((action): action is Extract<JobAction, { readonly do: Do }> => action.do === kind);
  const write = async <Job>(
    outcome: 'settled' | 'released' | 'expired' | 'postponed',
    jobs: readonly Job[],
    call: (jobs: readonly Job[]) => Promise<readonly EndOutcome[]>,
  ): Promise<readonly EndOutcome[]> => {
    const outcomes = jobs.length === 0 ? [] : await call(jobs);
    for (const each of outcomes) {
      if (each === 'applied') tally[outcome] += 1;
      else if (each !== 'unknown') tally[each] += 1;
    }
    return outcomes;
  };
  const ends = all('settle').map(({ end }) => end);
  await write('settled', ends, (jobs) => ledger.settle(jobs));
  const gone = all('release').map((action) => action.gone);
  const released = await write('released', gone, (jobs) => ledger.release(jobs));
  for (const [index, { jobId, cause }] of gone.entries()) {
    // Only admitted jobs held amounts, and only the first release reports it.
    if (released[index] === 'applied' && cause === REJECTED_BY_ROUTER) tally.admittedYetFailed.push(jobId);
  }
  const unknown = all('expire').map((action) => ({ ...action.gone, charge }));
  await write('expired', unknown, (jobs) => ledger.expire(jobs));
  const due = all('postpone').map(({ jobId, dueAtMs }) => ({ jobId, dueAtMs }));
  await write('postponed', due, (jobs) => ledger.postpone(jobs));
  const untracked = all('charge').map(({ gitlabJob }) => gitlabJob);
  const charged = untracked.length === 0 ? [] : await chargeBypass(untracked);
  tally.bypass += charged.filter((outcome) => outcome === 'bypass').length;
  tally.undecided += charged.filter((outcome) => outcome === 'undecided').length;
}
