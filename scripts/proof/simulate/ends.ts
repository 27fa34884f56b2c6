/** How the ledger learns that jobs ended: webhooks as they are worked off, and the product's own sweep of every minute. */
import type { Rules } from '../../../functions/core/admission/index.ts';
import { type LedgerClock, silentLog } from '../../../functions/core/environment/index.ts';
import type { JobTruth } from '../../../functions/core/gitlab/index.ts';
import { dynamoSweepMarks, type Ledger } from '../../../functions/core/ledger/index.ts';
import { LedgerError, MemoryTable } from '../../../functions/core/store/index.ts';
import { settleTruths, type TruthOutcome } from '../../../functions/core/truth/index.ts';
import type { SweepReport } from '../../../functions/sweep/report.ts';
import { newSweepMemory } from '../../../functions/sweep/run.ts';
import { sweep } from '../../../functions/sweep/sweep.ts';
import type { SimulatedGitLab } from './simulated-gitlab.ts';

export interface SimulatedEnds {
  /** Words of GitLab's about jobs. Returns those the table did not take: they come again. */
  tell(truths: readonly JobTruth[]): Promise<readonly JobTruth[]>;
  /** Every minute. */
  sweep(): Promise<void>;
  /** How often each outcome came, of webhooks and of charges for jobs that never asked. */
  readonly counts: Readonly<Record<string, number>>;
  readonly sweeps: Readonly<SweepTotals>;
}

export interface SweepTotals {
  runs: number;
  /** Runs in which GitLab did not answer. */
  silent: number;
  /** Runs that ended because the table did not answer. */
  failed: number;
  cutShort: number;
  /** Holds ended in the truth that no webhook told: settled, released and expired. */
  healed: number;
  expired: number;
  /** Due holds that were looked at. */
  due: number;
  ran: number;
  unadmitted: number;
}

interface EndsDeps {
  readonly ledger: Ledger;
  readonly gitlab: SimulatedGitLab;
  readonly clock: LedgerClock;
  readonly currentRules: () => Promise<Rules>;
}

export function ledgerEnds({ ledger, gitlab, clock, currentRules }: EndsDeps): SimulatedEnds {
  const counts: Record<string, number> = {};
  const sweeps: SweepTotals = {
    runs: 0,
    silent: 0,
    failed: 0,
    cutShort: 0,
    healed: 0,
    expired: 0,
    due: 0,
    ran: 0,
    unadmitted: 0,
  };
  const settling = { ledger, currentRules, clock, log: silentLog };
  const settle = async (truths: readonly JobTruth[]): Promise<readonly TruthOutcome[]> => {
    const outcomes = await settleTruths(truths, settling);
    for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
    return outcomes;
  };
  const deps = {
    gitlab,
    ledger,
    marks: dynamoSweepMarks({ table: new MemoryTable(), instance: 'gitlab.example.com' }),
    chargeBypass: settle,
    memory: newSweepMemory(),
    clock,
    chargeUnknown: 'nothing',
  } as const;

  return {
    tell: async (truths) => {
      if (truths.length === 0) return [];
      const outcomes = await settle(truths);
      return truths.filter((_, index) => outcomes[index] === 'undecided');
    },
    sweep: async () => {
      sweeps.runs += 1;
      try {
        add(sweeps, await sweep(deps));
      } catch (error) {
        // As in the deployment: the table did not answer, and the next minute begins where this one stopped.
        if (!(error instanceof LedgerError) || error.code !== 'ledger_unavailable') throw error;
        sweeps.failed += 1;
      }
    },
    counts,
    sweeps,
  };
}

function add(sweeps: SweepTotals, report: SweepReport): void {
  const { settled, released, expired, due, ran, unadmitted, gitlabSilent, cutShort } = report;
  sweeps.healed += settled + released + expired;
  sweeps.expired += expired;
  sweeps.due += due;
  sweeps.ran += ran;
  sweeps.unadmitted += unadmitted;
  if (gitlabSilent) sweeps.silent += 1;
  if (cutShort) sweeps.cutShort += 1;
}
