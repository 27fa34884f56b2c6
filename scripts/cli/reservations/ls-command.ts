import { waitingLines, waitingText } from '../../../functions/answers/health/judge-relays.ts';
import { systemClock } from '../../../functions/core/environment/index.ts';
import { createLedger, isReserved, type JobRecord } from '../../../functions/core/ledger/index.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { durationText } from '../../../policies/units/unit-texts.ts';
import { type Command, EXIT, type TerminalIo } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { money, shadowCount } from '../report/shadow-words.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';

const COUNT = 100;
/** Jobs in flight on a large instance. */
const COUNT_MAX = 20_000;
const BATCH = 100;

const HELP = `tollgate reservations ls [flags]

Which jobs hold an amount now? Those that are due first come first. A job is due at its start and timeout and 15 minutes:
by then GitLab should have said how it ended; the sweep asks it, and frees nothing before. RESERVED: a slot is kept for a job
that is being retried, until it is due. Below them: which jobs wait for room,
as the relays said within the last minute.

  --stale              only jobs past their due time
  --count <n>          how many at most (default: ${COUNT})
${RULES_FLAGS_HELP}
${LEDGER_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 told, 1 the ledger does not answer, 3 wrong usage`;

/** @param open - tests open a ledger of their own. */
export const reservationsCommandOn = (open: OpenLedger): Command => ({
  name: 'reservations ls',
  summary: 'Which jobs hold an amount now, and which of them should have ended?',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { stale: 'switch', count: 'text', ...RULES_FLAGS, ...LEDGER_FLAGS });
    const max = values.count === undefined ? COUNT : readWhole('count', values.count, 1, COUNT_MAX);
    const { policy, directory } = readRules(values, io);
    const { currency } = policy;
    const nowMs = io.nowMs();
    const ledger = await open(values, io);
    try {
      const { dueJobs, readRecords } = createLedger({
        store: ledger.store,
        clock: { ...systemClock, nowMs: io.nowMs },
      });
      const due = await dueJobs(values.stale ? nowMs : Number.MAX_SAFE_INTEGER, max);
      const held: HeldJob[] = [];
      for (let first = 0; first < due.length; first += BATCH) {
        const records = await readRecords(due.slice(first, first + BATCH).map(({ jobId }) => jobId));
        held.push(...records.flatMap((record) => heldJob(record, nowMs) ?? []));
      }
      // The index lags: a job may have ended since.
      const shown = values.stale ? held.filter(({ overdueSeconds }) => overdueSeconds > 0) : held;
      const cut = due.length === max;
      const waiting = waitingLines((await ledger.relayBeats?.()) ?? [], nowMs);
      if (values.json) io.out(`${JSON.stringify({ currency, jobs: shown, more: cut, waiting })}\n`);
      else {
        const groupOf = (root: string) => directory?.groupById.get(Number(root))?.path ?? `group ${root}`;
        io.out(heldText(shown, currency, values.stale, cut, io));
        io.out(waiting.map((line) => `${printable(waitingText(line, groupOf(line.root)))}\n`).join(''));
      }
      return EXIT.ok;
    } finally {
      await ledger.close();
    }
  },
});

export const reservationsCommand: Command = reservationsCommandOn(openLedger);

interface HeldJob {
  readonly jobId: number;
  readonly state: JobRecord['state'];
  readonly projectPath: string | null;
  readonly jobName: string | null;
  readonly runnerClass: string;
  /** Estimated cost. */
  readonly heldMicros: number;
  readonly decidedAt: string;
  readonly dueAt: string;
  /** 0: it is not due yet. */
  readonly overdueSeconds: number;
}

/** Undefined: it ended. */
function heldJob(record: JobRecord | undefined, nowMs: number): HeldJob | undefined {
  if (record?.dueAtMs === undefined) return undefined;
  const { jobId, state, facts, decidedAtMs, dueAtMs } = record;
  return {
    jobId,
    state: isReserved(record) ? 'RESERVED' : state,
    projectPath: facts.projectPath ?? null,
    jobName: facts.jobName ?? null,
    runnerClass: facts.runnerClass,
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
  const titles = [
    { title: 'job', align: 'right' as const },
    { title: 'state' },
    { title: 'class' },
    { title: 'held', align: 'right' as const },
    { title: 'since' },
    { title: 'overdue' },
    { title: 'project and job' },
  ];
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
