import stringWidth from 'string-width';
import { classColumn } from '../../../policies/text/rejection-text.ts';
import { amountText } from '../../../policies/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table, wrapped } from '../../terminal/table.ts';
import { askText, ruleTable } from '../evaluation/rule-text.ts';
import type { JobCheck } from './job-check.ts';
import { type LiveCheck, leftSection, rejectedNow, rejectingNow } from './live-check.ts';
import {
  conditionRows,
  conditionsText,
  countOf,
  firstOf,
  isWhole,
  NOT_READ,
  type PipelineCheck,
  type PipelineFinding,
  rejecting,
  unreadBy,
  unreadRows,
  untelling,
  watching,
} from './pipeline-check.ts';

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

const namesText = (names: readonly string[]): string =>
  firstOf(names, JOBS_SHOWN, (rest) => `${rest} more`).join(', ');

function dependsText({ jobs }: PipelineCheck, layout: Layout): string {
  const entries = conditionRows(jobs).map(({ text, jobs: names }) => `${text}: ${namesText(names)}`);
  const count = jobs.filter(({ job }) => job.dependsOn !== undefined).length;
  return sectionText(
    `Depends on rules, which the files and flags do not decide (${count} jobs)`,
    firstOf(entries, CONDITIONS_SHOWN, (rest) => `and ${rest} conditions more; --json has all of them`),
    layout,
  );
}

function notReadText(check: PipelineCheck, layout: Layout): string {
  const ofJobs = unreadRows(check).map(({ what, jobs }) => `${namesText(jobs)}: ${what}`);
  return listText(NOT_READ, [...check.pipeline.notRead, ...ofJobs], layout);
}

function leftOutText({ pipeline }: PipelineCheck, layout: Layout): string {
  const { leftOut } = pipeline;
  const names = firstOf([...new Set(leftOut.map(({ definedAs }) => definedAs))], LEFT_OUT_SHOWN);
  return sectionText(
    `Do not run: their rules leave them out (${leftOut.length} ${leftOut.length === 1 ? 'job' : 'jobs'})`,
    names.length === 0 ? [] : [names.join(', ')],
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

/** Jobs that come from one entry of the file and meet the same: a row of the table. */
interface Siblings {
  readonly first: JobCheck;
  readonly count: number;
}

/** Below this a terminal is narrow: names are shortened so that the verdict stays visible. */
const NARROW_COLUMNS = 110;
const NAME_COLUMNS = { narrow: 28, wide: 60 } as const;

/** A row per job: name, runner class, cost, verdict, and why. Jobs of one matrix that meet the same share a row. */
function jobRows(
  checks: readonly JobCheck[],
  currency: string,
  columns: number,
  paint: Paint,
): readonly (readonly string[])[] {
  const name = columns < NARROW_COLUMNS ? NAME_COLUMNS.narrow : NAME_COLUMNS.wide;
  return siblings(checks).map(({ first, count }) => {
    const { job, terms, verdict } = first;
    const label = printable(count === 1 ? job.name : `${job.definedAs} (${count} jobs)`);
    return [
      shortenedName(label, name),
      printable(classColumn(terms)),
      amountText(terms.costMicros * count, 'micros', currency, 'up'),
      paint[verdict === 'rejected' ? 'bad' : verdict === 'ok' ? 'good' : 'warn'](verdict),
      printable(whyOf(first)),
    ];
  });
}

function siblings(checks: readonly JobCheck[]): readonly Siblings[] {
  const rows = new Map<string, Siblings>();
  for (const check of checks) {
    const { job, terms, verdict } = check;
    const key = JSON.stringify([job.definedAs, classColumn(terms), terms.costMicros, verdict, whyOf(check)]);
    const present = rows.get(key);
    rows.set(
      key,
      present === undefined ? { first: check, count: 1 } : { ...present, count: present.count + 1 },
    );
  }
  return [...rows.values()];
}

/**
 * Relevant rules: violated, undecided and shadow ones; whether own rules decide, and whether all was read.
 */
function whyOf({ job, rejects, untold, watched }: JobCheck): string {
  const rules = (list: readonly { readonly rule: string; readonly mode: string }[]): readonly string[] => [
    ...new Set(list.map(({ rule, mode }) => (mode === 'enforce' ? rule : `${rule} (${mode})`))),
  ];
  const unsure = rules(untold).map((rule) => `${rule}?`);
  const mayRun = job.dependsOn === undefined ? [] : ['depends on rules'];
  const notRead = unreadBy(job).length === 0 ? [] : ['not read'];
  return [...rules(rejects), ...unsure, ...rules(watched), ...mayRun, ...notRead].join(', ');
}

/** Shortens the middle, because the end distinguishes jobs of a matrix. */
export function shortenedName(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  const letters = [...text];
  const tail = Math.floor((columns - 1) / 2);
  return `${letters.slice(0, columns - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}

/** More names do not help. */
const ROWS_MAX = 6;
const NAME_COLUMNS_MAX = 44;
const INDENT = '      ';
const GAP_COLUMNS = 2;
/** File and line, the end of the path at least. */
const PLACE_COLUMNS_MIN = 20;

/** Jobs of a finding, with file and line; jobs of one entry are listed once. */
function findingRows({ jobs, everyJob }: PipelineFinding, columns: number): readonly (readonly string[])[] {
  if (everyJob && jobs.length > 1) return [[`${INDENT}every job`]];
  const all = entriesOf(jobs);
  const told = all.length > ROWS_MAX ? all.slice(0, ROWS_MAX - 1) : all;
  const rest = jobs.length - told.reduce((sum, { count }) => sum + count, 0);
  const names = told.map(({ name }) => `${INDENT}${shortenedName(printable(name), NAME_COLUMNS_MAX)}`);
  const room = columns - Math.max(0, ...names.map((name) => stringWidth(name))) - GAP_COLUMNS;
  return [
    ...told.map(({ place }, index) => [
      names[index] ?? '',
      shortenedName(printable(place), Math.max(PLACE_COLUMNS_MIN, room)),
    ]),
    ...(rest === 0 ? [] : [[`${INDENT}and ${rest} more of ${jobs.length}`]]),
  ];
}

interface Entry {
  readonly name: string;
  /** File and line. */
  readonly place: string;
  readonly count: number;
}

function entriesOf(jobs: PipelineFinding['jobs']): readonly Entry[] {
  const entries = new Map<string, Entry>();
  for (const { job } of jobs) {
    const place = job.place === undefined ? '' : `${job.place.file}:${job.place.line}`;
    const count = (entries.get(job.definedAs)?.count ?? 0) + 1;
    const name = count === 1 ? job.name : `${job.definedAs} (${count} jobs)`;
    entries.set(job.definedAs, { name, place, count });
  }
  return [...entries.values()];
}
