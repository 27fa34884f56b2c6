import { BECAME, becameOf } from '../../../functions/answers/job/retried.ts';
import type { LedgerStore } from '../../../functions/core/ledger/index.ts';
import type { RequeueEntry } from '../../../functions/core/requeue/index.ts';
import type { RequeueSettings } from '../../../policies/policy.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { type Command, EXIT, type TerminalIo } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';

const BATCH = 100;
const READ_TIMEOUT_MS = 15_000;

const HELP = `tollgate requeue ls [flags]

Which rejected jobs wait to be retried when a slot is free, which were, and which were given up and why? For each group that
the policy names under requeue, its latest 200 jobs, oldest first.

${RULES_FLAGS_HELP}
${LEDGER_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 told, 1 the ledger does not answer, 3 wrong usage`;

/** @param open - tests open a ledger of their own. */
export const requeueLsOn = (open: OpenLedger): Command => ({
  name: 'requeue ls',
  summary: 'Which rejected jobs wait to be retried when a slot is free, and what became of the others?',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { ...RULES_FLAGS, ...LEDGER_FLAGS });
    const { policy, directory } = readRules(values, io);
    const agreed = policy.requeue ?? [];
    const ledger = await open(values, io);
    try {
      const lists = await Promise.all(agreed.map(({ groupId }) => ledger.requeue?.read(groupId)));
      const became = await becameOfAll(
        lists.flatMap((list) => list?.entries ?? []),
        ledger.store,
      );
      const groups = agreed.map((settings, at) => ({
        ...settings,
        jobs: (lists[at]?.entries ?? []).map((entry): ListedRetry => {
          const found = became.get(entry.newJobId ?? 0);
          return found === undefined ? entry : { ...entry, became: found };
        }),
      }));
      if (values.json) io.out(`${JSON.stringify({ groups })}\n`);
      else if (groups.length === 0)
        io.out('No group agreed to have its jobs retried: the policy has no requeue.\n');
      else {
        const pathOf = (id: number): string => directory?.groupById.get(id)?.path ?? `group ${id}`;
        io.out(groups.map((each) => groupText(each, pathOf(each.groupId), io)).join('\n'));
      }
      return EXIT.ok;
    } finally {
      await ledger.close();
    }
  },
});

export const requeueLsCommand: Command = requeueLsOn(openLedger);

interface ListedRetry extends RequeueEntry {
  /** Result of the retried job. */
  readonly became?: keyof typeof BECAME;
}

/** By the number of the new job. */
async function becameOfAll(
  entries: readonly RequeueEntry[],
  store: Pick<LedgerStore, 'readRecords'>,
): Promise<ReadonlyMap<number, keyof typeof BECAME>> {
  const newJobIds = entries.flatMap(({ newJobId }) => newJobId ?? []);
  const became = new Map<number, keyof typeof BECAME>();
  for (let first = 0; first < newJobIds.length; first += BATCH) {
    const batch = newJobIds.slice(first, first + BATCH);
    const records = await store.readRecords(batch, { timeoutMs: READ_TIMEOUT_MS });
    for (const [at, jobId] of batch.entries()) became.set(jobId, becameOf(records[at]));
  }
  return became;
}

function groupText(
  group: RequeueSettings & { readonly jobs: readonly ListedRetry[] },
  path: string,
  io: Pick<TerminalIo, 'columns' | 'colours' | 'env'>,
): string {
  const { jobs, retries: max } = group;
  const waiting = jobs.filter(({ state }) => state === 'waiting' || state === 'retrying').length;
  const heading = printable(`${path}: ${waiting} waiting, ${jobs.length} in all`);
  if (jobs.length === 0) return `${heading}\n`;
  const titles = [
    { title: 'job', align: 'right' as const },
    { title: 'state' },
    { title: 'retries' },
    { title: 'rejected' },
    { title: 'what became of it' },
  ];
  const rows = jobs.map(({ jobId, state, retries, rejectedAtMs, newJobId, became, why }) => [
    String(jobId),
    state,
    `${retries} of ${max}`,
    instantText(rejectedAtMs, rollupZone(io)),
    printable(newJobId === undefined ? (why ?? '') : `job ${newJobId}: ${BECAME[became ?? 'unasked']}`),
  ]);
  return `${heading}\n${table(titles, rows, io.columns, paintWhen(io.colours).dim)}`;
}
