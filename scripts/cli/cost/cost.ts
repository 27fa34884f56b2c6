import { JOBS_PER_SECOND, webhooksAtOnce } from '../../../cdk/settings/webhooks-at-once.ts';
import { UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { choice, orElse, readWhole, required, text, toggle, whole } from '../../terminal/flags.ts';
import { type Paint, paintWhen } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { COUNTERS_MAX, SYSTEM_LINES } from './assumptions.ts';
import { type Costing, type CostQuestion, costing, expectedBatches } from './costing.ts';
import { type CostLine, type CostPart, dollars, lineSum } from './lines.ts';
import { type Price, type Prices, REGIONS } from './prices.ts';

/** The largest batches: the relay's group commit, then the streams of settlement and rollup. */
const BATCH_MAX = 96;
const SETTLE_BATCH_MAX = 100;
const ROLLUP_BATCH_MAX = 200;
/** Six zones of a region, with a dozen endpoints in each. */
const NETWORK_MAX = 72;

const cost = command({
  name: 'cost',
  about: `Estimates what this deployment costs at AWS: every line with its quantity and its price, the cost when idle and the cost per
job. Writes are those that the real program was counted to make of sample jobs. It calls no server.

Jobs of a small fleet come one by one, and each has its own transaction. Without --batch the batches follow from the number
of jobs; --batch 5 shows pipelines that start five jobs together.`,
  flags: {
    'jobs-per-month': required(
      text('<number>', 'a number of jobs that ask to be admitted, like 300000', whole(0, 1_000_000_000)),
    ),
    batch: text(
      '<jobs>',
      'admitted together, on average (default: by the number of jobs)',
      whole(1, BATCH_MAX),
    ),
    'settle-batch': text(
      '<jobs>',
      'whose ends come together (default: by the number, or as --batch)',
      whole(1, SETTLE_BATCH_MAX),
    ),
    'rollup-batch': text(
      '<records>',
      'that the rollup gets together (default: by the number, or as --batch if more)',
      whole(1, ROLLUP_BATCH_MAX),
    ),
    counters: orElse(
      text('<number>', `limits that a job counts on, 0 to ${COUNTERS_MAX}`, whole(0, COUNTERS_MAX)),
      3,
    ),
    rejected: text('<per cent>', 'of the jobs (default: 2%)', readShare),
    relays: orElse(text('<number>', '1 to 4', whole(1, 4)), 2),
    'admit-route': orElse(choice('<route>', '', ['url', 'invoke']), 'url'),
    console: text(
      '<visits>',
      'with the console, and its visits a month (default: without)',
      whole(0, 1_000_000),
    ),
    // Budgets in the overview's order; beyond it they come last.
    groups: orElse(text('<number>', 'groups with a budget', whole(1, 20_000)), 300),
    'ssm-limits': orElse(text('<number>', 'groups whose limits are in Parameter Store', whole(0, 20_000)), 0),
    watchdog: toggle("with the watchdog and the relays' heartbeats"),
    'table-key': toggle('with a customer key for the table'),
    'relay-image': toggle('with a ready image rather than one built into ECR'),
    'retention-days': orElse(text('<days>', 'that logs are kept', whole(1, 3653)), 30),
    nat: orElse(text('<number>', 'NAT gateways rather than public addresses', whole(0, NETWORK_MAX)), 0),
    endpoints: orElse(
      text('<number>', 'interface endpoints, counted once for each zone', whole(0, NETWORK_MAX)),
      0,
    ),
    traces: toggle('with the traces of X-Ray'),
    cloudfront: toggle('in front of the console'),
    region: orElse(choice('<region>', 'with prices in scripts/cli/cost/prices.ts: ', REGIONS), 'us-east-1'),
  },
  json: 'question, prices, lines and sums as one JSON object',
  examples: [
    'tollgate cost --jobs-per-month 300000',
    'tollgate cost --jobs-per-month 300000 --batch 5 --console 400 --region eu-central-1',
  ],
  exits: { 1: 'failed' },
  run: async ({ flags }, io) => {
    const { 'jobs-per-month': jobsPerMonth, relays, groups } = flags;
    const expected = expectedBatches(jobsPerMonth, relays);
    const batch = flags.batch ?? expected.batch;
    if (flags['ssm-limits'] > groups) readWhole('ssm-limits', String(flags['ssm-limits']), 0, groups);
    const question: CostQuestion = {
      jobsPerMonth,
      batch,
      settleBatch: flags['settle-batch'] ?? flags.batch ?? expected.settleBatch,
      // It batches for a minute.
      rollupBatch: flags['rollup-batch'] ?? Math.max(batch, expected.rollupBatch),
      counters: flags.counters,
      rejectedShare: flags.rejected ?? 0.02,
      groups,
      parameters: flags['ssm-limits'],
      visits: flags.console ?? 0,
      region: flags.region,
      shape: {
        relays,
        admitRoute: flags['admit-route'],
        watchdog: flags.watchdog,
        console: flags.console !== undefined,
        tableKey: flags['table-key'],
        builtImage: !flags['relay-image'],
        systemLines: SYSTEM_LINES,
        logRetentionDays: flags['retention-days'],
        natGateways: flags.nat,
        endpoints: flags.endpoints,
        traces: flags.traces,
        cdn: flags.cloudfront,
      },
    };
    const answer = costing(question);
    return print(io, flags, costJson(answer, question), () =>
      costText(answer, question, paintWhen(io.colours), io.columns),
    );
  },
});

function readShare(given: string): number {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(given) ?? [];
  const percent = Number(digits ?? Number.NaN);
  if (percent <= 100) return percent / 100;
  throw new UsageError(`--rejected "${given}": expected per cent from 0% to 100%, e.g. 2%`);
}

const MILLION = 1_000_000;

const PARTS: readonly (readonly [Exclude<CostPart, 'always' | 'desk'>, string])[] = [
  ['admission', 'Asked, held, settled, told: per million jobs'],
  ['usage', 'Usage, estimates, sweep: per million jobs'],
  ['kept', 'Kept and recounted: per million jobs a month, once the first ones expire'],
];

/** For people, 80 columns: every line with quantity × price, then the sums. */
function costText(costing: Costing, question: CostQuestion, paint: Paint, columns: number): string {
  const { prices } = costing;
  const block = (title: string, lines: readonly CostLine[], times: number): string =>
    `${paint.strong(title)}\n${table(
      COLUMNS,
      [
        ...lines.map((line) => rowOf({ ...line, quantity: line.quantity * times }, prices)),
        ['', '', '', '', usd(lineSum(lines, prices) * times)],
      ],
      columns,
    )}\n`;
  return [
    block('Always: per month', costing.always, 1),
    costing.desk.length === 0
      ? ''
      : block(`The console: per month, ${counted(question.visits)} visits`, costing.desk, 1),
    ...PARTS.map(([part, title]) =>
      block(
        title,
        costing.perJob.filter((line) => line.part === part),
        MILLION,
      ),
    ),
    `${paint.strong('Together, US dollars')}\n`,
    table(
      [{}, { align: 'right' }],
      [
        ['Idle, a month', usd(costing.idlePerMonth)],
        ...(costing.desk.length === 0 ? [] : [['The console’s visitors', usd(costing.deskPerMonth)]]),
        ['Per million admissions and their settlement', usd(costing.admissionsPerMillion)],
        ['Per million jobs with everything that follows', usd(costing.allPerMillion)],
        [`${counted(question.jobsPerMonth)} jobs a month, idle included`, usd(costing.perMonth)],
      ],
      columns,
    ),
    `\n${notesOf(costing, question)
      .map((note) => `${note}\n`)
      .join('')}`,
  ].join('');
}

const COLUMNS = [{}, { align: 'right' }, {}, { align: 'right' }, { align: 'right' }] as const;

/** The same in every block, so that amounts stand under each other: 77 columns. */
const WIDTHS = { label: 32, quantity: 8, unit: 12, price: 10, amount: 7 };

function rowOf(line: CostLine, prices: Prices): readonly string[] {
  const price = prices[line.price];
  return [
    line.label.padEnd(WIDTHS.label),
    quantityText(line.quantity).padStart(WIDTHS.quantity),
    `${price.unit} ×`.padEnd(WIDTHS.unit),
    priceText(price).padStart(WIDTHS.price),
    usd(dollars(line, prices)).padStart(WIDTHS.amount),
  ];
}

const notesOf = (
  { prices }: Costing,
  { jobsPerMonth, region, shape, batch, settleBatch, rollupBatch }: CostQuestion,
): readonly string[] => [
  `Prices of ${region}, on demand, compared on ${newest(prices)}, without taxes.`,
  ...(region === 'us-east-1'
    ? []
    : [
        'What is dearer there than in us-east-1 is from AWS’s list as we know it:',
        'nobody has compared it; follow the sources in scripts/cli/cost/prices.ts.',
      ]),
  `Batches of ${batch} admitted, ${settleBatch} ended, ${rollupBatch} summed up: see --help.`,
  'Free tiers and discounts are not deducted. Writes are counted by formula on',
  'admissions and settlements of sample jobs; retried conflicts are not in them.',
  shape.admitRoute === 'invoke'
    ? "Lambda's own API has no price; interface endpoints do: --endpoints."
    : 'A Function URL has no price of its own.',
  'Durations and line lengths are assumed: scripts/cli/cost/assumptions.ts.',
  ...webhooksNote(jobsPerMonth),
];

/** Runs that are kept have no price, so the default is not spoken of. */
function webhooksNote(jobsPerMonth: number): readonly string[] {
  const wanted = Math.ceil(jobsPerMonth / BUSY_SECONDS_PER_MONTH);
  if (wanted <= JOBS_PER_SECOND.fallback) return [];
  const jobsPerSecond = Math.min(wanted, JOBS_PER_SECOND.max);
  return [
    `webhooks: { jobsPerSecond: ${jobsPerSecond} } keeps ${counted(webhooksAtOnce(jobsPerSecond))} runs at once for them,`,
    'which Lambda does not charge, if all jobs end in 22 days of 10 hours.',
  ];
}

const BUSY_SECONDS_PER_MONTH = 22 * 10 * 3_600;

const newest = (prices: Prices): string =>
  Object.values(prices).reduce((latest, { readOn }) => (readOn > latest ? readOn : latest), '');

const usd = (amount: number): string => amount.toFixed(2);

const counted = (number: number): string => number.toLocaleString('en-US');

function quantityText(quantity: number): string {
  if (quantity >= 1_000_000) return `${(quantity / 1_000_000).toFixed(2)}M`;
  if (quantity >= 100 || Number.isInteger(quantity)) return counted(Math.round(quantity));
  return quantity.toPrecision(3);
}

const PER: Readonly<Record<number, string>> = { 1: '', 10000: '/10k', 1000000: '/M' };

const priceText = ({ usd: amount, per }: Price): string => `$${amount}${PER[per] ?? `/${per}`}`;

/** For programs: `lines[].quantity` is a month's for `always` and `desk`, one admission's for the other parts; amounts are US dollars. */
function costJson(costing: Costing, question: CostQuestion) {
  const { prices, always, desk, perJob, ...totals } = costing;
  const lineJson = (line: CostLine) => ({
    ...line,
    unit: prices[line.price].unit,
    usd: dollars(line, prices),
  });
  return { question, totals, lines: [...always, ...desk, ...perJob].map(lineJson), prices };
}

export const commands = [cost];
