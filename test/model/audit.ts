/** After the last sweep: nothing is held, and what is charged is what GitLab says ran. */
import type { Counter, JobRecord } from '../../functions/core/ledger/ledger.ts';
import { usageName, usageOf } from '../../functions/core/usage/usage.ts';
import { counterName } from '../../policies/claim.ts';
import { must } from '../support/ledger/history.ts';
import { chargesOf, costOfRun, isCharged, secondsOf } from './charge.ts';
import { dayIn } from './rulebook.ts';
import { ranSeconds, type TrueJob } from './truth.ts';
import type { World } from './world.ts';

export async function audit(world: World): Promise<void> {
  const { store, books, truth } = world;
  const process = world.process('settle');
  const records = new Map<number, JobRecord>();
  const counters: Counter[] = [];
  for (const item of store.dump()) {
    if (item.kind === 'record') records.set(item.record.jobId, item.record);
    if (item.kind === 'counter') counters.push(item.counter);
  }
  for (const job of truth.jobs) checkState(job, records.get(job.jobId), world);
  const spent = new Map<string, number>();
  for (const record of records.values()) {
    const charges = chargesOf(books.chargedBy(record));
    for (const [index, { counter }] of record.claims.entries()) {
      const name = counterName(counter);
      spent.set(name, (spent.get(name) ?? 0) + (charges[index] ?? 0));
    }
  }
  for (const { key, committed, settled } of counters) {
    const name = counterName(key);
    must(committed === settled, `${committed - settled} is still held on ${name}`);
    must(settled === (spent.get(name) ?? 0), `${name} shows ${settled} spent, GitLab ran ${spent.get(name)}`);
    spent.delete(name);
  }
  for (const [name, sum] of spent) must(sum === 0, `${sum} was spent on ${name}, which was never written`);
  must(records.size === books.records.size, 'the table has other records than were written');

  const due = await process.ledger.dueJobs(Number.MAX_SAFE_INTEGER, 100);
  must(due.length === 0, `still due: ${due.map(({ jobId }) => jobId)}`);
  const { drift } = await process.ledger.rebuild({ repair: false });
  must(drift.length === 0, `drift: ${JSON.stringify(drift)}`);
  await checkUsage(records, world);
}

/** What ran is settled, whoever let it run; what never ran is not. Nobody may be able to tell for a job GitLab forgot. */
function checkState(job: TrueJob, record: JobRecord | undefined, { books, heard }: World): void {
  const { jobId, removed, status } = job;
  const ran = ranSeconds(job) !== undefined;
  const state = record?.state ?? 'nothing';
  const forgotten = removed && !(ran && heard.has(jobId));
  const lawful = forgotten
    ? ['nothing', 'REJECTED', 'RELEASED', 'EXPIRED', ...(ran ? ['SETTLED'] : [])]
    : ran
      ? ['SETTLED']
      : ['nothing', 'REJECTED', 'RELEASED'];
  must(lawful.includes(state), `job ${jobId} (${status}) is ${state}, expected ${lawful}`);
  must(record === undefined || books.records.has(jobId), `job ${jobId} was never written`);
}

/** Checks the subjects that no group move changes: the instance, the roots, projects and classes of runners. */
async function checkUsage(records: ReadonlyMap<number, JobRecord>, world: World): Promise<void> {
  const expected = new Map<string, { jobs: number; seconds: number; settledMicros: number }>();
  for (const record of records.values()) {
    const { facts, decidedAtMs, state, generation } = record;
    if (generation === 0) continue;
    const by = world.books.chargedBy(record);
    const ran = state === 'SETTLED' ? secondsOf(by.job) : 0;
    const money = state === 'SETTLED' ? costOfRun(by.birth, by.job) : isCharged(by) ? facts.costMicros : 0;
    const subjects = [
      'instance',
      `group/${facts.rootId}`,
      `project/${facts.projectId}`,
      `runner-class/${facts.runnerClass}`,
    ];
    for (const subject of subjects) {
      const name = usageName({ subject, day: dayIn('UTC', decidedAtMs) });
      const line = expected.get(name) ?? { jobs: 0, seconds: 0, settledMicros: 0 };
      expected.set(name, line);
      line.jobs += 1;
      line.seconds += ran;
      line.settledMicros += money;
    }
  }
  const shown = world.usage.store.usage();
  for (const [name, { jobs, seconds, settledMicros }] of expected) {
    const usage = usageOf(shown.get(name) ?? new Map());
    must(
      usage.jobs === jobs &&
        usage.seconds === seconds &&
        usage.settledMicros === settledMicros &&
        usage.heldMicros === 0,
      `usage of ${name}: ${usage.jobs} jobs, ${usage.seconds} s, ${usage.settledMicros} and ${usage.heldMicros} held; expected ${jobs}, ${seconds} s, ${settledMicros}`,
    );
  }
}
