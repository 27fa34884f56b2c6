/**
 * Three months in virtual time, with everything together: jobs run at a GitLab and are settled, some of them wrongly at first, months
 * close by themselves, and the auditor, who shares no code with the ledger, comes to what the statements charge.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { dynamoSheetStore } from '../../../../functions/core/sheets/sheet-store.ts';
import { chainBreak, dynamoStatementChain } from '../../../../functions/core/statements/closed-statement.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { closeMonths } from '../../../../functions/drift/close-months.ts';
import { pause } from '../../../../scripts/cli/audit/audit.ts';
import { commandFetch } from '../../../../scripts/cli/command-fetch.ts';
import { openLedger, readOnly } from '../../../../scripts/cli/open-ledger.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { aJob, consoleHouse, LIMITS } from '../../../functions/console/house.ts';
import { listed } from '../desk-run.ts';
import { ledgerBench } from '../ledger-bench.ts';

const DAY_MS = 86_400_000;
const INSTANCE = 'gitlab.example.com';
const TOKEN = 'glpat-secret';
const RUNNER = { id: 41, tags: ['linux'] };
const SUBJECTS = ['group/100', 'instance'];
const MONTHS = ['2026-11', '2026-12', '2027-01'] as const;
const JOBS_A_MONTH = 12;

async function books() {
  const house = consoleHouse();
  const { clock, store, ledger, directory, policy, usage } = house;
  await house.apply(LIMITS);
  const files = ledgerBench({});
  writeFileSync(join(files.folder, 'token'), TOKEN);
  const gitlab = createLocalGitLab({ clock, random: () => 0.5, token: TOKEN });
  gitlab.addRunner(RUNNER);
  const parts = { table: new MemoryTable(), instance: INSTANCE, clock, random: () => 0 };
  const chain = dynamoStatementChain(parts);
  const sheets = dynamoSheetStore(parts);
  const nightsUntil = async (untilMs: number): Promise<void> => {
    while (clock.nowMs() < untilMs) {
      clock.advance(DAY_MS);
      await closeMonths(clock.monotonicMs() + 60_000, {
        ...{ chain, directory, clock, log: silentLog, instance: INSTANCE, usage, sheets },
        ...{ currency: policy.currency, prices: policy.prices, zone: 'UTC', fiscalStart: '01-01' },
      });
    }
  };
  const settle = async (jobId: number, durationSeconds: number): Promise<void> => {
    await ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs() }]);
    await house.roll();
  };
  /** @param told - what the ledger hears first. */
  const run = async (jobId: number, seconds: number, told = seconds): Promise<void> => {
    const job = aJob(jobId, { runnerId: RUNNER.id, runnerTags: RUNNER.tags });
    await house.ask([job]);
    gitlab.create({
      id: jobId,
      projectId: job.projectId ?? 0,
      projectPath: job.projectPath ?? '',
      name: 'unit',
    });
    gitlab.start(jobId, RUNNER);
    clock.advance(seconds * 1_000);
    gitlab.end(jobId, { status: 'success' });
    await settle(jobId, told);
  };
  const audit = async (month: string) => {
    const { io, told } = files.desk();
    const command = listed(
      'audit',
      [openLedger, files.opening(readOnly(store))],
      [commandFetch, () => gitlab.fetch],
      [pause, async () => {}],
    );
    const gitlabFlags = [
      '--gitlab',
      'https://gitlab.example.com',
      '--token-file',
      join(files.folder, 'token'),
    ];
    const args = ['--month', month, ...files.flags, ...gitlabFlags, '--json'];
    const code = await command.run(args, { ...io, nowMs: clock.nowMs });
    return { code, ...JSON.parse(told.out) };
  };
  const statements = async () => (await Promise.all(SUBJECTS.map((subject) => chain.of(subject)))).flat();
  return { clock, nightsUntil, settle, run, audit, statements };
}

const endOf = (month: string, plusDays: number): number => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Date.UTC(year, number, 1 + plusDays);
};

test('statements closed, audited and chained; what was wrong of a closed month goes forward only', async () => {
  const { run, settle, nightsUntil, audit, statements } = await books();
  const random = seededRandom(16);
  /** What is told of a job late: in the months after its own. */
  const late: { readonly jobId: number; readonly seconds: number }[] = [];
  const closedTexts = new Map<number, string>();
  let jobId = 0;
  for (const month of MONTHS) {
    // Truths of the month before, which is closed.
    for (const { jobId: of, seconds } of late.splice(0)) await settle(of, seconds);
    for (let count = 0; count < JOBS_A_MONTH; count += 1) {
      jobId += 1;
      const seconds = 1 + Math.floor(random() * 3_000);
      const isWrong = month !== MONTHS[2] && count % 4 === 0;
      await run(jobId, seconds, isWrong ? Math.ceil(seconds / 2) : seconds);
      if (isWrong) late.push({ jobId, seconds });
    }
    // The auditor finds what is wrong while it is, and nothing else.
    const { differences } = await audit(month);
    expect(differences.map((each: { jobId: number }) => each.jobId)).toEqual(late.map((each) => each.jobId));
    await nightsUntil(endOf(month, 6));
    for (const { statement, text } of await statements()) {
      expect(closedTexts.get(statement.number) ?? text).toBe(text);
      closedTexts.set(statement.number, text);
    }
  }
  const all = await statements();
  expect(all).toHaveLength(SUBJECTS.length * MONTHS.length);
  for (const subject of SUBJECTS) {
    const own = all.filter(({ statement }) => statement.subject === subject);
    expect(own.map(({ statement }) => statement.month)).toEqual(MONTHS);
    expect(chainBreak(own)).toBeUndefined();
    for (const { statement } of own)
      for (const { month } of statement.adjustments) expect(month < statement.month).toBe(true);
  }
  const whole = all
    .filter(({ statement }) => statement.subject === 'instance')
    .map(({ statement }) => statement);
  expect(
    whole.map(({ adjustments }) => adjustments.map(({ month, corrections }) => [month, corrections])),
  ).toEqual([[], [['2026-11', 3]], [['2026-12', 3]]]);
  // Every charge of every month agrees now, and all that is due is what the auditor comes to by himself.
  const audits = await Promise.all(MONTHS.map(audit));
  expect(audits.map(({ code, jobs, differences }) => [code, jobs, differences])).toEqual(
    MONTHS.map(() => [0, JOBS_A_MONTH, []]),
  );
  const due = whole.reduce((sum, { totals }) => sum + totals.dueMicros, 0);
  expect(due).toBeGreaterThan(0);
  expect(audits.reduce((sum, { recomputedMicros }) => sum + recomputedMicros, 0)).toBe(due);
});
