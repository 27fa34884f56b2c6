import { amountText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table, wrapped } from '../../terminal/table.ts';
import { askText } from '../evaluation/limit-ask.ts';
import { ruleTable } from '../evaluation/rule-table.ts';
import { conditionRows, conditionsText } from './conditions-text.ts';
import { leftSection, rejectedNow, rejectingNow } from './console-lines.ts';
import { findingRows } from './finding-rows.ts';
import { type PipelineFinding, rejecting, untelling, watching } from './findings.ts';
import type { JobCheck } from './job-check.ts';
import { jobRows } from './job-rows.ts';
import type { LiveCheck } from './live-step.ts';
import { countOf, isWhole, NOT_READ, type PipelineCheck, unreadRows } from './pipeline-check.ts';

interface Layout {
  readonly columns: number;
  readonly paint: Paint;
  /** Every rule of every job. */
  readonly verbose: boolean;
}

/** The check for people: jobs, findings, limits, what is not known, and the sum in the last line. */
export function checkText(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  layout: Layout,
  now?: LiveCheck,
): string {
  const { jobs, currency, pipeline } = check;
  return [
    createdText(check, layout),
    jobsText(check, layout),
    findingsText('Would be rejected', rejecting(jobs, currency), layout),
    findingsText('Would be rejected now, as the limits stand', rejectingNow(check, now), layout),
    findingsText('Cannot tell', untelling(jobs, currency), layout),
    findingsText('Only watched, the job runs', watching(jobs, currency), layout),
    limitsText(check, layout, now),
    ...(now === undefined ? [] : [leftSection(now, isWhole(check), layout)]),
    dependsText(check, layout),
    leftOutText(check, layout),
    notReadText(check, layout),
    listText(
      'Other pipelines started: their jobs are asked about in their own project',
      pipeline.bridges,
      layout,
    ),
    listText('Perhaps not as meant', pipeline.warnings, layout),
    listText('May differ in GitLab', pipeline.problems, layout),
    ...(layout.verbose ? jobs.map((job) => rulesText(job, currency, layout)) : []),
    `${summaryText(check, before, layout.paint, now)}\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Says if there is a pipeline, if that is uncertain. */
function createdText({ pipeline }: PipelineCheck, { columns, paint }: Layout): string {
  const { isCreated, workflowDependsOn } = pipeline;
  if (isCreated === 'yes') return '';
  const text =
    isCreated === 'no'
      ? 'workflow:rules: GitLab creates no pipeline for this ref and source.'
      : `workflow:rules: whether GitLab creates a pipeline depends on ${conditionsText(workflowDependsOn)}.`;
  return `${paint.warn(wrapped(printable(text), columns, '  '))}\n`;
}

const CONDITIONS_SHOWN = 12;
const JOBS_SHOWN = 4;
const LEFT_OUT_SHOWN = 24;

function dependsText({ jobs }: PipelineCheck, layout: Layout): string {
  const rows = conditionRows(jobs);
  const entries = rows.slice(0, CONDITIONS_SHOWN).map(({ text, jobs: names }) => {
    const rest = names.length - JOBS_SHOWN;
    const shown = rest <= 0 ? names : [...names.slice(0, JOBS_SHOWN), `${rest} more`];
    return `${text}: ${shown.join(', ')}`;
  });
  const rest = rows.length - entries.length;
  const all = rest > 0 ? [...entries, `and ${rest} conditions more; --json has all of them`] : entries;
  const count = jobs.filter(({ job }) => job.dependsOn !== undefined).length;
  return sectionText(
    `Depends on rules, which the files and flags do not decide (${count} jobs)`,
    all,
    layout,
  );
}

function notReadText(check: PipelineCheck, layout: Layout): string {
  const entries = [
    ...check.pipeline.notRead,
    ...unreadRows(check).map(({ what, jobs: names }) => {
      const rest = names.length - JOBS_SHOWN;
      const shown = rest <= 0 ? names : [...names.slice(0, JOBS_SHOWN), `${rest} more`];
      return `${shown.join(', ')}: ${what}`;
    }),
  ];
  return listText(NOT_READ, entries, layout);
}

function leftOutText({ pipeline }: PipelineCheck, layout: Layout): string {
  const { leftOut } = pipeline;
  const names = [...new Set(leftOut.map(({ definedAs }) => definedAs))];
  const rest = names.length - LEFT_OUT_SHOWN;
  const shown = rest <= 0 ? names : [...names.slice(0, LEFT_OUT_SHOWN), `and ${rest} more`];
  return sectionText(
    `Do not run: their rules leave them out (${leftOut.length} ${leftOut.length === 1 ? 'job' : 'jobs'})`,
    names.length === 0 ? [] : [shown.join(', ')],
    layout,
  );
}

function jobsText({ jobs, currency }: PipelineCheck, { columns, paint }: Layout): string {
  if (jobs.length === 0) return '';
  return table(
    [
      { title: 'job' },
      { title: 'class' },
      { title: 'cost', align: 'right' },
      { title: 'verdict' },
      { title: 'rules' },
    ],
    jobRows(jobs, currency, columns, paint),
    columns,
    paint.strong,
  );
}

function findingsText(title: string, findings: readonly PipelineFinding[], layout: Layout): string {
  if (findings.length === 0) return '';
  return `${layout.paint.strong(title)}\n${findings.map((each) => findingText(each, layout)).join('')}`;
}

function findingText(finding: PipelineFinding, { columns, paint }: Layout): string {
  const { rule, mode, text, message } = finding;
  const where = mode === 'enforce' ? rule : `${rule} (${mode})`;
  const head = wrapped(`  ${where}: ${printable(text)}`, columns, '    ');
  const advice = message === undefined ? '' : `${wrapped(`    ${printable(message)}`, columns, '    ')}\n`;
  return `${head}\n${paint.dim(advice)}${table([{}, {}], findingRows(finding, columns), columns)}`;
}

function limitsText(check: PipelineCheck, { columns, paint }: Layout, now?: LiveCheck): string {
  const { limits, currency } = check;
  if (limits.length === 0) return '';
  const rows = limits.map((ask) => [
    `  ${ask.exceeds ? paint.warn(ask.limit) : ask.limit}`,
    printable(ask.subjectLabel),
    `${askText(ask, currency)}${ask.perStage ? ', in the largest stage' : ''}`,
  ]);
  const some = countOf(check, 'rejected') > 0;
  const title = paint.strong(
    `${some ? 'Without the rejected jobs one' : 'One'} run asks of the limits, as estimated`,
  );
  const note = '  How much of them is left is not read here: add --console or --ledger.';
  const tight = limits
    .filter(({ exceeds }) => exceeds)
    .map(({ limit, subjectLabel, perStage }) => {
      const what = perStage ? 'The largest stage at once asks' : 'A whole run asks';
      const text = `  ${what} more than the whole ${limit} of ${printable(subjectLabel)}: some jobs would be rejected.`;
      return paint.warn(wrapped(text, columns, '    '));
    });
  return `${title}\n${table([{}, {}, {}], rows, columns)}${[...tight, ...(now === undefined ? [paint.dim(note)] : [])].map((line) => `${line}\n`).join('')}`;
}

const listText = (title: string, entries: readonly string[], layout: Layout): string =>
  sectionText(`${title} (${entries.length})`, entries, layout);

function sectionText(title: string, entries: readonly string[], { columns, paint }: Layout): string {
  if (entries.length === 0) return '';
  return `${paint.strong(title)}\n${entries.map((each) => `${wrapped(`  ${printable(each)}`, columns, '    ')}\n`).join('')}`;
}

function rulesText({ job, results }: JobCheck, currency: string, { columns, paint }: Layout): string {
  return `${paint.strong(printable(job.name))}\n${ruleTable(results, currency, columns, paint)}`;
}

function summaryText(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  paint: Paint,
  now?: LiveCheck,
): string {
  const { jobs, costMicros, currency } = check;
  const rejected = countOf(check, 'rejected');
  const late = rejectedNow(check, now);
  const unsure = countOf(check, 'not sure');
  const depends = jobs.filter(({ job }) => job.dependsOn !== undefined).length;
  const parts = [
    `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}, about ${amountText(costMicros, 'micros', currency, 'up')} a run`,
    ...(before === undefined
      ? []
      : [`before about ${amountText(before.costMicros, 'micros', currency, 'up')}`]),
    rejected > 0
      ? paint.bad(`${rejected} would be rejected`)
      : isWhole(check)
        ? paint.good('none would be rejected')
        : paint.warn('none is rejected by what was read'),
    ...(late === 0 ? [] : [paint.bad(`${late} would be rejected now`)]),
    ...(unsure > 0 ? [paint.warn(`${unsure} not sure`)] : []),
    ...(unsure > 0 || isWhole(check) ? [] : [paint.warn('not sure about what was not read')]),
    ...(depends === 0 ? [] : [paint.warn(`${depends} ${depends === 1 ? 'depends' : 'depend'} on rules`)]),
  ];
  return parts.join('; ');
}
