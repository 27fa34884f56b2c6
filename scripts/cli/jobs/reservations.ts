import { waitingLines, waitingText } from '../../../functions/answers/health/waiting.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { isReserved } from '../../../functions/core/ledger/reservation.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { durationText } from '../../../policies/unit-texts.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { orElse, text, toggle, whole } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { right, table } from '../../terminal/table.ts';
import { LEDGER_EXITS, TABLE_FLAGS } from '../ledger-flags.ts';
import { openLedger, withOpened } from '../open-ledger.ts';
import { money, shadowCount } from '../report/shadow-words.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, readRules } from '../rules-flags.ts';

const BATCH = 100;

const reservationsLs = command({
  name: 'reservations ls',
  about: `Lists jobs that hold an amount now, those that are due first. A job is due after its start, its timeout and 15 minutes: by
then GitLab should have reported its end. The sweep asks GitLab about it, and frees nothing before. RESERVED: a slot is kept
for a job that is being retried, until it is due. Below them: jobs that wait for headroom, as the relays reported within the
last minute.`,
  flags: {
    stale: toggle('only jobs past their due time'),
    count: orElse(text('<n>', 'how many at most', whole(1, 20_000)), 100),
    ...RULES_FLAGS,
    ...TABLE_FLAGS,
  },
  examples: ['tollgate reservations ls --stale'],
  exits: { ...LEDGER_EXITS, 0: 'listed' },
  run: async ({ flags }, io) => {
    const { stale, count } = flags;
    const { policy, directory } = readRules(flags, io);
    const { currency } = policy;
    const nowMs = io.nowMs();
    const answer = await withOpened(openLedger, flags, io, async ({ store, relayBeats }) => {
      const { dueJobs, readRecords } = createLedger({ store, clock: { ...systemClock, nowMs: io.nowMs } });
      const due = await dueJobs(stale ? nowMs : Number.MAX_SAFE_INTEGER, count);
      const held: HeldJob[] = [];
      for (let first = 0; first < due.length; first += BATCH) {
        const records = await readRecords(due.slice(first, first + BATCH).map(({ jobId }) => jobId));
        held.push(...records.flatMap((record) => heldJob(record, nowMs) ?? []));
      }
      // The index lags: a job may have ended since.
      const jobs = stale ? held.filter(({ overdueSeconds }) => overdueSeconds > 0) : held;
      const waiting = waitingLines((await relayBeats?.()) ?? [], nowMs);
      return { currency, jobs, more: due.length === count, waiting };
    });
    const groupOf = (root: string) => directory.groupById.get(Number(root))?.path ?? `group ${root}`;
    return print(io, flags, answer, () =>
      [
        heldText(answer.jobs, currency, stale, answer.more, io),
        ...answer.waiting.map((line) => `${printable(waitingText(line, groupOf(line.root)))}\n`),
      ].join(''),
    );
  },
});

type HeldJob = NonNullable<ReturnType<typeof heldJob>>;

function heldJob(record: JobRecord | undefined, nowMs: number) {
  if (record?.dueAtMs === undefined) return undefined;
  const { jobId, state, facts, decidedAtMs, dueAtMs } = record;
  const { projectPath = null, jobName = null, runnerClass } = facts;
  return {
    ...{ jobId, projectPath, jobName, runnerClass },
    state: isReserved(record) ? 'RESERVED' : state,
    heldMicros: isReserved(record) ? 0 : facts.costMicros,
    decidedAt: new Date(decidedAtMs).toISOString(),
    dueAt: new Date(dueAtMs).toISOString(),
    overdueSeconds: Math.max(0, Math.floor((nowMs - dueAtMs) / 1000)),
  };
}

function heldText(
  jobs: readonly HeldJob[],
  currency: string,
  stale: boolean,
  cut: boolean,
  io: Pick<TerminalIo, 'columns' | 'colours' | 'env'>,
): string {
  if (jobs.length === 0) return stale ? 'No job is past its due time.\n' : 'No job holds anything.\n';
  const paint = paintWhen(io.colours);
  const titles = [right('job'), 'state', 'class', right('held'), 'since', 'overdue', 'project and job'];
  const rows = jobs.map(
    ({ jobId, state, runnerClass, heldMicros, decidedAt, overdueSeconds, projectPath, jobName }) => [
      String(jobId),
      state,
      printable(runnerClass),
      money(heldMicros, currency),
      instantText(Date.parse(decidedAt), rollupZone(io)),
      overdueSeconds === 0 ? '' : paint.warn(durationText(overdueSeconds, 'down')),
      printable([projectPath, jobName].filter((each) => each !== null).join(' ')),
    ],
  );
  const sum = jobs.reduce((total, { heldMicros }) => total + heldMicros, 0);
  const more = cut ? ', and perhaps more: --count' : '';
  return `${table(titles, rows, io.columns, paint.dim)}${shadowCount(jobs.length)} jobs hold ${money(sum, currency)}${more}\n`;
}

export const commands = [reservationsLs];
