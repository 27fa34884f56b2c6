import { JOBS_PER_SECOND, webhooksAtOnce } from '../../../cdk/settings/webhooks-at-once.ts';
import type { Paint } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import type { Costing, CostQuestion } from './costing.ts';
import { type CostLine, type CostPart, dollars, lineSum } from './line.ts';
import type { Price, Prices } from './prices.ts';

const MILLION = 1_000_000;

const PARTS: readonly (readonly [Exclude<CostPart, 'always' | 'desk'>, string])[] = [
  ['admission', 'Asked, held, settled, told: per million jobs'],
  ['usage', 'Usage, estimates, sweep: per million jobs'],
  ['kept', 'Kept and recounted: per million jobs a month, once the first ones expire'],
];

/** For people, 80 columns: every line with quantity × price, then the sums. */
export function costText(costing: Costing, question: CostQuestion, paint: Paint, columns: number): string {
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
      : block(`The console: per month, ${whole(question.visits)} visits`, costing.desk, 1),
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
        [`${whole(question.jobsPerMonth)} jobs a month, idle included`, usd(costing.perMonth)],
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
    `webhooks: { jobsPerSecond: ${jobsPerSecond} } keeps ${whole(webhooksAtOnce(jobsPerSecond))} runs at once for them,`,
    'which Lambda does not charge, if all jobs end in 22 days of 10 hours.',
  ];
}

const BUSY_SECONDS_PER_MONTH = 22 * 10 * 3_600;

const newest = (prices: Prices): string =>
  Object.values(prices).reduce((latest, { readOn }) => (readOn > latest ? readOn : latest), '');

const usd = (amount: number): string => amount.toFixed(2);

const whole = (number: number): string => number.toLocaleString('en-US');

function quantityText(quantity: number): string {
  if (quantity >= 1_000_000) return `${(quantity / 1_000_000).toFixed(2)}M`;
  if (quantity >= 100 || Number.isInteger(quantity)) return whole(Math.round(quantity));
  return quantity.toPrecision(3);
}

const PER: Readonly<Record<number, string>> = { 1: '', 10000: '/10k', 1000000: '/M' };

const priceText = ({ usd: amount, per }: Price): string => `$${amount}${PER[per] ?? `/${per}`}`;
