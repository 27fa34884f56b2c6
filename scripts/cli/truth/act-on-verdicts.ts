/** Does the sweep's work now: the same decisions, by the same code. */
import type { Rules } from '../../../functions/core/admission/index.ts';
import { type LedgerClock, silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, type LedgerStore } from '../../../functions/core/ledger/index.ts';
import {
  type ConcludeTally,
  concludeAll,
  type JobVerdict,
  settleTruths,
} from '../../../functions/core/truth/index.ts';

interface ActOptions {
  readonly store: LedgerStore;
  readonly clock: LedgerClock;
  /** The rules by which jobs without a record are charged; absent: they are left to the sweep. */
  readonly rules: Rules | undefined;
  readonly chargeUnknown: 'hold' | 'nothing';
  /** True if the token sees all jobs; otherwise a job that GitLab does not show may exist. */
  readonly seesAllJobs: boolean;
}

/** `acted` in `--json`. */
export interface ActReport {
  readonly tally: ConcludeTally;
  readonly left: { readonly bypass: number; readonly expiry: number; readonly tooMany: number };
}

/** Some minutes of writing; who has more has lost a day and can say it again. */
export const ACT_MAX = 10_000;

/** The ledger decides: jobs that ended meanwhile stay unchanged. */
export async function actOn(verdicts: readonly JobVerdict[], options: ActOptions): Promise<ActReport> {
  const { store, clock, rules, chargeUnknown, seesAllJobs } = options;
  const bypass = rules === undefined ? verdicts.filter((verdict) => verdict.do === 'charge') : [];
  const expiry = seesAllJobs ? [] : verdicts.filter((verdict) => verdict.do === 'expire');
  const left = new Set<JobVerdict>([...bypass, ...expiry]);
  const acting = verdicts.filter((verdict) => !left.has(verdict));
  const tally: ConcludeTally = {
    settled: 0,
    released: 0,
    admittedYetFailed: [],
    expired: 0,
    postponed: 0,
    corrected: 0,
    unchanged: 0,
    undecided: 0,
    bypass: 0,
  };
  const ledger = createLedger({ store, clock });
  await concludeAll(acting.slice(0, ACT_MAX), {
    ledger,
    tally,
    chargeUnknown,
    chargeBypass: async (truths) => {
      if (rules === undefined) return truths.map(() => 'undecided');
      return settleTruths(truths, { ledger, currentRules: async () => rules, clock, log: silentLog });
    },
  });
  const tooMany = Math.max(0, acting.length - ACT_MAX);
  return { tally, left: { bypass: bypass.length, expiry: expiry.length, tooMany } };
}

export const isComplete = ({ tally, left }: ActReport): boolean =>
  tally.undecided + left.bypass + left.expiry + left.tooMany === 0;
