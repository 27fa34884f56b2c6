/** Jobs that ran and that the ledger never heard of: evaluated by the rules of now, charged without asking. */
import type { Rules } from '../admission/index.ts';
import type { LedgerClock, Log } from '../environment/index.ts';
import type { JobTruth } from '../gitlab/index.ts';
import {
  type BypassAsk,
  type ControllerScope,
  isOutOfScope,
  type JobEnd,
  type Ledger,
} from '../ledger/index.ts';
import { bypassAsk } from './bypass-ask.ts';
import { type EndedOutcome, together } from './together.ts';

export interface BypassDeps {
  readonly ledger: Pick<Ledger, 'recordBypass'>;
  /** Rules for these jobs; loaded only for bypassed jobs. */
  readonly currentRules: (jobs: readonly JobTruth[]) => Promise<Rules>;
  /** The controller's scope. @default all jobs */
  readonly scope?: () => Promise<ControllerScope | undefined>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly log: Log;
}

/** Out of scope: it is not charged and is not a bypass. */
type BypassOutcome = EndedOutcome | 'out_of_scope';

export interface BypassedJob {
  readonly truth: JobTruth;
  readonly end: JobEnd;
}

/** One outcome per job, same order; `undecided` also where the rules cannot be read. Jobs must differ. */
export async function chargeBypass(
  jobs: readonly BypassedJob[],
  deps: BypassDeps,
): Promise<readonly BypassOutcome[]> {
  if (jobs.length === 0) return [];
  const scope = await deps.scope?.();
  const nowMs = deps.clock.nowMs();
  const inScope = jobs.filter(({ truth }) => !isOutOfScope(truth, scope, nowMs));
  const charged = await chargeAll(inScope, deps);
  const outcomes = new Map(inScope.map(({ truth }, index) => [truth.jobId, charged[index] ?? 'undecided']));
  return jobs.map(({ truth }) => outcomes.get(truth.jobId) ?? 'out_of_scope');
}

async function chargeAll(
  jobs: readonly BypassedJob[],
  { ledger, currentRules, clock, log }: BypassDeps,
): Promise<readonly EndedOutcome[]> {
  if (jobs.length === 0) return [];
  let rules: Rules;
  try {
    rules = await currentRules(jobs.map(({ truth }) => truth));
  } catch (error) {
    log.error('rules unreadable: jobs without admission wait', { error: nameOf(error), jobs: jobs.length });
    return jobs.map(() => 'undecided');
  }
  const asks = jobs.flatMap((job) => askOf(job, rules, clock.nowMs(), log));
  const recorded = await together(asks, (some) => ledger.recordBypass(some), log);
  const outcomes = new Map(asks.map(({ jobId }, index) => [jobId, recorded[index] ?? 'undecided']));
  return jobs.map(({ truth }) => outcomes.get(truth.jobId) ?? 'failed');
}

function askOf({ truth, end }: BypassedJob, rules: Rules, nowMs: number, log: Log): readonly BypassAsk[] {
  const { jobId, projectId } = truth;
  try {
    const { ask, unknownGroup } = bypassAsk(truth, end, rules, nowMs);
    log.warn('job ran without admission', { jobId, projectId, unknownGroup });
    return [ask];
  } catch (error) {
    log.error('job without admission could not be evaluated', { jobId, error: nameOf(error) });
    return [];
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
