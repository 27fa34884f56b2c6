import type { Counter, JobRecord } from '../../functions/core/ledger/ledger.ts';
import { counterName } from '../../policies/claim.ts';
import { ranSeconds, type TrueJob } from './gitlab.ts';
import { chargeOf } from './rulebook/charges.ts';
import type { World } from './world.ts';

const PROBLEMS_MAX = 5;

export async function audit(
  world: World,
  heard: ReadonlySet<number> = new Set(),
): Promise<readonly string[]> {
  const { store, books, gitlab, findings, rollup } = world;
  const problems: string[] = [];
  const records = new Map<number, JobRecord>();
  const counters: Counter[] = [];
  for (const item of store.dump()) {
    if (item.kind === 'record') records.set(item.record.jobId, item.record);
    if (item.kind === 'counter') counters.push(item.counter);
  }
  const must = (holds: boolean, problem: () => string): void => {
    if (!holds && problems.length < PROBLEMS_MAX) problems.push(problem());
  };
  for (const job of gitlab.jobs.values()) {
    const state = records.get(job.jobId)?.state ?? 'nothing';
    const lawful = lawfulStates(job, heard.has(job.jobId));
    must(lawful.includes(state), () => `job ${job.jobId} (${job.status}) is ${state}, expected ${lawful}`);
  }
  const spent = new Map<string, number>();
  const explained = [...records.values()].filter((record) => books.isExplained(record));
  must(explained.length === records.size, () => 'a record has claims that no rule explains');
  for (const record of explained) {
    const decided = books.decided(record);
    for (const claim of decided.ask.claims)
      spent.set(claim.counter, (spent.get(claim.counter) ?? 0) + chargeOf(claim, decided));
  }
  for (const { key, committed, settled } of counters) {
    const name = counterName(key);
    const ran = spent.get(name) ?? 0;
    spent.delete(name);
    must(committed === settled, () => `${committed - settled} is still held on ${name}`);
    must(settled === ran, () => `${name} shows ${settled} spent, GitLab ran ${ran}`);
  }
  for (const [name, sum] of spent)
    must(sum === 0, () => `${sum} was spent on ${name}, which was never written`);
  must(records.size === books.records.size, () => 'the table has other records than were written');
  const { ledger } = world.process('settle');
  const due = await ledger.dueJobs(Number.MAX_SAFE_INTEGER, 100);
  must(due.length === 0, () => `still due: ${due.map(({ jobId }) => jobId)}`);
  const { drift } = await ledger.rebuild({ repair: false });
  must(drift.length === 0, () => `drift: ${JSON.stringify(drift)}`);
  if (rollup.position > 0) {
    const decided = explained.filter(({ generation }) => generation > 0);
    rollup.compare(
      decided.map((record) => books.decided(record)),
      findings,
    );
  }
  return [...problems, ...findings.comparisons.examples];
}

/** A job that ran is settled, and one that never ran is not. The outcome of a job that GitLab deleted may be lost. */
function lawfulStates(job: TrueJob, wasHeard: boolean): readonly string[] {
  const ran = ranSeconds(job) !== undefined;
  if (job.removed && !(ran && wasHeard))
    return ['nothing', 'REJECTED', 'RELEASED', 'EXPIRED', ...(ran ? ['SETTLED'] : [])];
  return ran ? ['SETTLED'] : ['nothing', 'REJECTED', 'RELEASED'];
}
