import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { COUNTERS_MAX } from './assumptions.ts';
import { costJson } from './cost-json.ts';
import { costText } from './cost-text.ts';
import { type CostQuestion, costing } from './costing.ts';
import { expectedBatches } from './expected-batches.ts';
import { REGIONS } from './prices.ts';
import { SYSTEM_LINES } from './shape.ts';

const HELP = `tollgate cost --jobs-per-month <number> [flags]

What this deployment costs at AWS: every line with its quantity and its price, what it costs idle and what it
costs per job. Writes are those that the real program was counted to make of sample jobs. Asks nobody.

  --jobs-per-month <number>  jobs that ask to be admitted
  --batch <jobs>             that are admitted together, on average            (default: by the number of jobs)
  --settle-batch <jobs>      whose ends come together                          (default: by the number, or as --batch)
  --rollup-batch <records>   that the rollup gets together                     (default: by the number, or as --batch if more)
  --counters <number>        limits that a job counts on, 0 to ${COUNTERS_MAX}              (default: 3)
  --rejected <per cent>      of the jobs                                       (default: 2%)
  --relays <number>          1 to 4                                            (default: 2)
  --admit-route <route>      url or invoke                                     (default: url)
  --console <visits>         with the console, for so many visits a month      (default: without)
  --groups <number>          that have a budget                                (default: 300)
  --ssm-limits <number>      of groups whose limits are in Parameter Store     (default: 0)
  --watchdog                 with the watchdog and the relays' heartbeats
  --table-key                with a customer key for the table
  --relay-image              with a ready image rather than one built into ECR
  --retention-days <days>    that logs are kept                                (default: 30)
  --nat <number>             NAT gateways rather than public addresses         (default: 0)
  --endpoints <number>       interface endpoints, counted once for each zone   (default: 0)
  --traces                   with the traces of X-Ray
  --cloudfront               in front of the console
  --region <region>          one that scripts/cli/cost/prices.ts has          (default: us-east-1)
  --json                     question, prices, lines and sums as one JSON object

Jobs of a small fleet come one by one, and each has a transaction of its own. Without --batch the batches are
what that many jobs make of themselves; --batch 5 shows what pipelines make that start five jobs at once.

Exit codes: 0 done, 3 wrong usage`;

const FLAGS = {
  'jobs-per-month': 'text',
  batch: 'text',
  'settle-batch': 'text',
  'rollup-batch': 'text',
  counters: 'text',
  rejected: 'text',
  relays: 'text',
  'admit-route': 'text',
  console: 'text',
  groups: 'text',
  'ssm-limits': 'text',
  watchdog: 'switch',
  'table-key': 'switch',
  'relay-image': 'switch',
  'retention-days': 'text',
  nat: 'text',
  endpoints: 'text',
  traces: 'switch',
  cloudfront: 'switch',
  region: 'text',
} as const;

const JOBS_MAX = 1_000_000_000;
/** The largest batches: the relay's group commit, then the settlement's and the rollup's streams. */
const BATCH_MAX = 96;
const SETTLE_BATCH_MAX = 100;
const ROLLUP_BATCH_MAX = 200;
const RELAYS_MAX = 4;
const VISITS_MAX = 1_000_000;
/** Budgets in the overview's order; beyond it they come last. */
const GROUPS_MAX = 20_000;
const RETENTION_DAYS_MAX = 3653;
/** Six zones of a region, with a dozen endpoints in each. */
const NETWORK_MAX = 72;

export const costCommand: Command = {
  name: 'cost',
  summary: 'What does this deployment cost at AWS? Every line, idle and per job',
  help: HELP,
  run: tellCost,
};

async function tellCost(args: readonly string[], io: TerminalIo): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  const question = readQuestion(values);
  const answer = costing(question);
  io.out(
    values.json
      ? `${JSON.stringify(costJson(answer, question))}\n`
      : costText(answer, question, paintWhen(io.colours), io.columns),
  );
  return EXIT.ok;
}

type CostFlags = ReturnType<typeof readFlags<typeof FLAGS>>['values'];

function readQuestion(values: CostFlags): CostQuestion {
  const jobs = values['jobs-per-month'];
  if (jobs === undefined) throw new UsageError('--jobs-per-month is missing: expected a number like 300000');
  const jobsPerMonth = readWhole('jobs-per-month', jobs, 0, JOBS_MAX);
  const relays = readWhole('relays', values.relays ?? '2', 1, RELAYS_MAX);
  const expected = expectedBatches(jobsPerMonth, relays);
  const batch = readWhole('batch', values.batch ?? String(expected.batch), 1, BATCH_MAX);
  const likewise = (of: number): string => values.batch ?? String(of);
  const groups = readWhole('groups', values.groups ?? '300', 1, GROUPS_MAX);
  return {
    jobsPerMonth,
    batch,
    settleBatch: readWhole(
      'settle-batch',
      values['settle-batch'] ?? likewise(expected.settleBatch),
      1,
      SETTLE_BATCH_MAX,
    ),
    rollupBatch: readWhole(
      'rollup-batch',
      // It batches for a minute.
      values['rollup-batch'] ?? String(Math.max(batch, expected.rollupBatch)),
      1,
      ROLLUP_BATCH_MAX,
    ),
    counters: readWhole('counters', values.counters ?? '3', 0, COUNTERS_MAX),
    rejectedShare: readShare(values.rejected ?? '2%'),
    groups,
    parameters: readWhole('ssm-limits', values['ssm-limits'] ?? '0', 0, groups),
    visits: readWhole('console', values.console ?? '0', 0, VISITS_MAX),
    region: readChoice('region', values.region ?? 'us-east-1', REGIONS),
    shape: {
      relays,
      admitRoute: readChoice('admit-route', values['admit-route'] ?? 'url', ['url', 'invoke']),
      watchdog: values.watchdog,
      console: values.console !== undefined,
      tableKey: values['table-key'],
      builtImage: !values['relay-image'],
      systemLines: SYSTEM_LINES,
      logRetentionDays: readWhole('retention-days', values['retention-days'] ?? '30', 1, RETENTION_DAYS_MAX),
      natGateways: readWhole('nat', values.nat ?? '0', 0, NETWORK_MAX),
      endpoints: readWhole('endpoints', values.endpoints ?? '0', 0, NETWORK_MAX),
      traces: values.traces,
      cdn: values.cloudfront,
    },
  };
}

function readShare(text: string): number {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text) ?? [];
  const percent = Number(digits ?? Number.NaN);
  if (percent <= 100) return percent / 100;
  throw new UsageError(`--rejected "${text}": expected per cent from 0% to 100%, e.g. 2%`);
}
