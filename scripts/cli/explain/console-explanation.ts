/** What a console tells of a job, for people: as much as its page shows to whoever asks. */
import type {
  ExplainedCounter,
  ExplainedRuleRow,
  JobExplanation,
} from '../../../functions/answers/job/model.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { amountText, durationText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { wrapped } from '../evaluation/wrapped.ts';

interface Layout {
  /** In which times are told. */
  readonly zone: string;
  readonly columns: number;
  readonly paint: Paint;
}

export function consoleExplanationText(told: JobExplanation, layout: Layout): string {
  const job = harmless(told);
  const { paint, columns } = layout;
  const section = (title: string, text: string): string =>
    text === '' ? '' : `${paint.strong(title)}\n${text}`;
  const lines = (all: readonly string[]): string =>
    all.map((line) => `${wrapped(`  ${line}`, columns, '    ')}\n`).join('');
  const hidden =
    job.countersHidden === 0
      ? []
      : [`${job.countersHidden} more, of groups whose figures are not yours to see.`];
  return [
    headText(job, layout),
    section('What stopped it, and what helps', lines(helpLines(job, layout))),
    section('Counters', `${countersText(job, layout)}${lines(hidden)}`),
    section('Rules', rulesText(job.rules, layout)),
    section('What the developer read', lines(job.rejectionText?.split('\n') ?? [])),
    section('Not recorded', lines(job.notRecorded)),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Names of jobs, branches and images are other people's text; colours come after this. */
const harmless = (told: JobExplanation): JobExplanation =>
  JSON.parse(JSON.stringify(told), (name, value: unknown) =>
    typeof value === 'string' && name !== 'rejectionText' ? printable(value) : value,
  );

function headText(told: JobExplanation, { zone, columns, paint }: Layout): string {
  const { jobId, job, outcome, decisionId, decidedAtMs, state, currency, atDecision, now } = told;
  const word = outcome === 'admitted' ? paint.good(outcome) : paint.bad(outcome);
  const name = job.name === undefined ? '' : ` "${job.name}"`;
  const price = ({ costMicros, estimateSeconds, runnerClass }: JobExplanation['atDecision']): string =>
    `${amountText(costMicros, 'micros', currency, 'up')} for ${durationText(estimateSeconds)} on ${runnerClass}`;
  const rows = [
    ['project', job.projectPath ?? 'not recorded'],
    ['decided', instantText(decidedAtMs, zone)],
    ['state', state],
    ['price then', price(atDecision)],
    ['price now', now === undefined ? 'not asked again' : price(now)],
    ['asked again', now === undefined ? 'cannot be' : `would be ${now.outcome}`],
  ];
  return `${paint.strong(`Job ${jobId}${name}`)}: ${word}, decision ${decisionId}\n${table([{}, {}], rows, columns)}`;
}

function helpLines({ rejection, currency }: JobExplanation, { zone }: Layout): readonly string[] {
  if (rejection === undefined) return [];
  const { says, others, advice, renewsAtMs, owner, classes, timeoutSeconds } = rejection;
  return [
    says,
    ...others,
    ...advice,
    ...classes.map(
      ({ runnerClass, tags, costMicros }) =>
        `It would start on ${runnerClass} (tags: ${tags.join(', ')}), for ${amountText(costMicros, 'micros', currency, 'up')}.`,
    ),
    ...(timeoutSeconds === undefined
      ? []
      : [`It would start with a timeout of at most ${durationText(timeoutSeconds)}.`]),
    ...(renewsAtMs === undefined ? [] : [`The limit starts anew ${instantText(renewsAtMs, zone)}.`]),
    ...(owner === undefined
      ? []
      : [`Owner: ${owner.name}${owner.contact === undefined ? '' : `, ${owner.contact}`}`]),
  ];
}

function countersText({ counters, currency }: JobExplanation, { columns, paint }: Layout): string {
  if (counters.length === 0) return '';
  const right = { align: 'right' } as const;
  const titles = [
    { title: '  limit' },
    { title: 'of' },
    { title: 'this job', ...right },
    { title: 'used now', ...right },
    { title: 'bound', ...right },
    { title: 'left', ...right },
  ];
  const rows = counters.map(({ limit, label, unit, atDecision, now }: ExplainedCounter) => {
    const show = (amount: number | undefined): string =>
      amount === undefined ? '–' : amountText(amount, unit, currency);
    const bound = now.bound === 'unlimited' ? now.bound : show(now.bound);
    return [
      `  ${limit}`,
      label,
      show(atDecision?.jobHeld),
      show(now.settled + now.held),
      bound,
      show(now.left),
    ];
  });
  return table(titles, rows, columns, paint.dim);
}

/** Those that had or have something against it. */
function rulesText(rules: readonly ExplainedRuleRow[], { columns }: Layout): string {
  const rows = rules.flatMap(({ id, mode = '', atDecision, now }) => [
    ...atDecision.map(({ code, text }) => [`  ${id}`, mode, 'then', `[${code}] ${text}`]),
    ...(now?.violations ?? []).map(({ code, text }) => [`  ${id}`, mode, 'now', `[${code}] ${text}`]),
  ]);
  return rows.length === 0 ? '' : table([{}, {}, {}, {}], rows, columns);
}
