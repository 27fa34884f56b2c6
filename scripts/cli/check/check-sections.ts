import stringWidth from 'string-width';
import type { CheckedPipeline } from '../../../functions/answers/job/model.ts';
import { classColumn } from '../../../policies/text/rejection-text.ts';
import { amountText, bareAmountText } from '../../../policies/unit-texts.ts';
import { groupsOf } from '../../terminal/groups.ts';
import { type Paint, paintWhen, printable, right, table, wrapped } from '../../terminal/table.ts';
import { askText, ruleRow, ruleTable } from '../evaluation/rule-text.ts';
import {
  conditionsText,
  conditionText,
  countOf,
  type Finding,
  findingsOf,
  firstOf,
  isWhole,
  type JobCheck,
  type PipelineCheck,
  unreadBy,
  unreadOfJobs,
} from './pipeline-check.ts';

/** A part of the check, printed as text and as Markdown. Its title is ours, its entries quote files and rules. */
interface Section {
  readonly title: string;
  readonly entries: readonly SectionEntry[];
}

type SectionEntry = readonly [text: string, ...below: string[]];

/** A check with what it is compared with: the target branch's pipeline, and the decisions of a console or ledger. */
export interface ShownCheck {
  readonly check: PipelineCheck;
  readonly before?: PipelineCheck | undefined;
  readonly now?: CheckedPipeline | undefined;
}

function sectionsOf({ check, before, now }: ShownCheck): readonly Section[] {
  const { jobs, pipeline } = check;
  const { isCreated, leftOut } = pipeline;
  const findings = findingsOf(check, now);
  const lines = (all: readonly string[]): readonly SectionEntry[] => all.map((line) => [line]);
  const found = (kind: Finding['kind']): readonly SectionEntry[] => {
    const own = findings.filter((each) => each.kind === kind);
    const groups = groupsOf(own, ({ rule, mode, text }) => JSON.stringify([rule, mode, text]));
    return groups.map((group) => findingEntry(group, jobs.length));
  };
  const created =
    isCreated === 'no'
      ? 'workflow:rules: GitLab creates no pipeline for this ref and source.'
      : `workflow:rules: whether GitLab creates a pipeline depends on ${conditionsText(pipeline.workflowDependsOn)}.`;
  const depending = jobs.flatMap(({ job }) => (job.dependsOn === undefined ? [] : job));
  const conditions = depending.flatMap((job) => (job.dependsOn ?? []).map((each) => [each, job] as const));
  const others = [...new Set(leftOut.map(({ definedAs }) => definedAs))];
  const run = countOf(check, 'rejected') > 0 ? 'Without the rejected jobs one run' : 'One run';
  const unread = now === undefined ? '; remaining amounts need --console or --ledger' : '';
  const sections: readonly Section[] = [
    { title: 'Decisions', entries: isCreated === 'yes' ? [] : [[created]] },
    { title: 'Would be rejected', entries: found('rejects') },
    { title: 'Would be rejected now, as the limits stand', entries: found('rejects now') },
    { title: 'Unknown', entries: found('unknown') },
    { title: 'Only watched, the job runs', entries: found('watched') },
    { title: 'Costs that change', entries: before === undefined ? [] : lines(costChanges(check, before)) },
    { title: `${run} asks of the limits, as estimated${unread}`, entries: askEntries(check) },
    { title: 'Left now', entries: now === undefined ? [] : leftEntries(now, isWhole(check)) },
    {
      title: `Depends on rules, which the files and flags do not decide (${depending.length} jobs)`,
      entries: lines(byJobs(conditions).map(([condition, names]) => `${conditionText(condition)}: ${names}`)),
    },
    {
      title: `Do not run: their rules leave them out (${leftOut.length} ${leftOut.length === 1 ? 'job' : 'jobs'})`,
      entries: others.length === 0 ? [] : [[firstOf(others, NAMES_SHOWN).join(', ')]],
    },
    {
      title: 'Not read: what rests on it is never "ok"',
      entries: lines([
        ...pipeline.notRead,
        ...byJobs(unreadOfJobs(check)).map(([what, names]) => `${names}: ${what}`),
      ]),
    },
    {
      title: 'Other pipelines started: their own projects are asked about their jobs',
      entries: lines(pipeline.bridges),
    },
    { title: 'May differ in GitLab', entries: lines(pipeline.problems) },
  ];
  return sections.filter(({ entries }) => entries.length > 0);
}

const NAMES_SHOWN = 24;
const JOBS_SHOWN = 6;

/** Each thing once with the names of its jobs, those of most jobs first. */
function byJobs(
  all: readonly (readonly [thing: string, job: JobCheck['job']])[],
): readonly (readonly [thing: string, names: string])[] {
  return [...Map.groupBy(all, ([thing]) => thing)]
    .map(([thing, own]) => ({ thing, names: [...new Set(own.map(([, { definedAs }]) => definedAs))] }))
    .toSorted((one, other) => other.names.length - one.names.length)
    .map(({ thing, names }) => [thing, firstOf(names, JOBS_SHOWN).join(', ')]);
}

/** One entry for findings that differ in their jobs alone. */
function findingEntry(group: readonly [Finding, ...Finding[]], jobsOfPipeline: number): SectionEntry {
  const [first] = group;
  const names = groupsOf(group, ({ check: { job } }) => job.definedAs).map((own) => {
    const [{ check }] = own;
    const { name, definedAs, place } = check.job;
    const shown = own.length === 1 ? name : `${definedAs} (${own.length} jobs)`;
    return place === undefined ? shown : `${shown}  ${place.file}:${place.line}`;
  });
  const isEvery = group.length === jobsOfPipeline && group.length > 1;
  const below = isEvery ? ['every job'] : firstOf(names, JOBS_SHOWN);
  return [`${ruleName(first)}: ${first.text}`, ...[first.message ?? []].flat(), ...below];
}

const ruleName = ({ rule, mode }: Pick<Finding, 'rule' | 'mode'>): string =>
  mode === 'enforce' ? rule : `${rule} (${mode})`;

/** Costs by name as it is written, the largest change first. */
function costChanges(check: PipelineCheck, before: PipelineCheck): readonly string[] {
  const money = (micros: number): string => amountText(micros, 'micros', check.currency, 'up');
  const changes = new Map<string, { from?: number; to?: number }>();
  for (const [key, { jobs }] of [['to', check] as const, ['from', before] as const])
    for (const { job, terms } of jobs) {
      const change = changes.get(job.definedAs) ?? {};
      changes.set(job.definedAs, { ...change, [key]: (change[key] ?? 0) + terms.costMicros });
    }
  return [...changes]
    .map(([name, { from, to }]) => ({ name, from, to, by: Math.abs((to ?? 0) - (from ?? 0)) }))
    .filter(({ from, to }) => from !== to)
    .toSorted((one, other) => other.by - one.by)
    .map(({ name, from, to }) => {
      if (from === undefined) return `${name}: new, ${money(to ?? 0)}`;
      return `${name}: ${to === undefined ? `gone, was ${money(from)}` : `${money(from)} → ${money(to)}`}`;
    });
}

const askEntries = ({ limits, currency }: PipelineCheck): readonly SectionEntry[] =>
  limits.map((ask) => {
    const text = `${ask.limit} of ${ask.subjectLabel}: ${askText(ask, currency)}${ask.perStage ? ', in the largest stage' : ''}`;
    return ask.exceeds ? [text, 'more than the whole limit: some jobs would be rejected'] : [text];
  });

/** Amounts that the counters of a console or ledger leave. @param whole - everything was read that the pipeline rests on. */
function leftEntries(
  { limits, limitsHidden, currency }: CheckedPipeline,
  whole: boolean,
): readonly SectionEntry[] {
  const entries = limits.map(
    ({ limit, label, asked, left, amount, unit, periodLabel, mode, fits }): SectionEntry => {
      const rest = `${bareAmountText(Math.max(0, left), unit, 'down')} of ${amountText(amount, unit, currency)}`;
      const during = periodLabel === undefined ? '' : ` for ${periodLabel}`;
      const watching = mode === 'enforce' ? '' : ` (${mode})`;
      const text = `${limit} of ${label}: asks ${bareAmountText(asked, unit, 'up')}, left ${rest}${during}${watching}`;
      return fits ? [text] : [text, 'more is asked than is left'];
    },
  );
  const hidden = `${limitsHidden} more ${limitsHidden === 1 ? 'limit' : 'limits'} with figures that are not shown`;
  if (limitsHidden > 0) entries.push([hidden]);
  if (!whole) entries.push(['Jobs and values that were not read may ask for more.']);
  return entries;
}

interface Layout {
  readonly columns: number;
  readonly paint: Paint;
}

export function leftSection(now: CheckedPipeline, layout: Layout): string {
  const entries = leftEntries(now, true);
  return entries.length === 0 ? '' : sectionText({ title: 'Left now', entries }, layout);
}

export function checkText(shown: ShownCheck, layout: Layout, verbose: boolean): string {
  const { jobs, currency } = shown.check;
  const { columns, paint } = layout;
  const titles = ['job', 'class', right('cost'), 'outcome', 'rules'];
  const jobText = ({ job, results }: JobCheck): string => {
    const rows = results.map((result) => ruleRow(result, currency));
    return `${paint.strong(printable(job.name))}\n${ruleTable(rows, columns, paint)}`;
  };
  return [
    ...(jobs.length === 0 ? [] : [table(titles, jobRows(jobs, currency, layout), columns, paint.strong)]),
    ...sectionsOf(shown).map((section) => sectionText(section, layout)),
    ...(verbose ? jobs.map(jobText) : []),
    `${summaryText(shown, paint)}\n`,
  ].join('\n');
}

function sectionText({ title, entries }: Section, { columns, paint }: Layout): string {
  const line = (text: string, indent: number): string =>
    `${wrapped(`${' '.repeat(indent)}${printable(text)}`, columns, ' '.repeat(indent + 2))}\n`;
  const texts = entries.flatMap(([text, ...below]) => [line(text, 2), ...below.map((each) => line(each, 6))]);
  return `${paint.strong(wrapped(title, columns, '  '))}\n${texts.join('')}`;
}

const ENTRIES_SHOWN = 20;
const CODE_COLUMNS_MAX = 400;

/** Texts of files are in code spans on one line, so that GitLab reads no quick actions, mentions or tables in them. */
export function checkMarkdown(shown: ShownCheck): string {
  const sections = sectionsOf(shown).map(({ title, entries }) => {
    const items = entries.map(([text, ...below]) =>
      [`- ${code(text)}`, ...below.map((each) => `  - ${code(each)}`)].join('\n'),
    );
    return [`**${title}**`, '', ...firstOf(items, ENTRIES_SHOWN, '- and')].join('\n');
  });
  return `${[`### Tollgate: ${summaryText(shown, paintWhen(false))}`, ...sections].join('\n\n')}\n`;
}

function code(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim();
  return `\`${shorten(line, CODE_COLUMNS_MAX)}\``;
}

function summaryText({ check, before, now }: ShownCheck, paint: Paint): string {
  const { jobs, currency } = check;
  const cost = ({ costMicros }: PipelineCheck): string => amountText(costMicros, 'micros', currency, 'up');
  const late = findingsOf(check, now).filter(({ kind }) => kind === 'rejects now');
  const rejectedNow = new Set(late.map((each) => each.check)).size;
  const rejected = countOf(check, 'rejected');
  const unsure = countOf(check, 'not sure');
  const depends = jobs.filter(({ job }) => job.dependsOn !== undefined).length;
  const none = isWhole(check)
    ? paint.good('none would be rejected')
    : paint.warn('none is rejected by what was read');
  return [
    `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}, about ${cost(check)} a run`,
    before && `before about ${cost(before)}`,
    rejected > 0 ? paint.bad(`${rejected} would be rejected`) : none,
    rejectedNow > 0 && paint.bad(`${rejectedNow} would be rejected now`),
    unsure > 0 && paint.warn(`${unsure} not sure`),
    unsure === 0 && !isWhole(check) && paint.warn('not sure about what was not read'),
    depends > 0 && paint.warn(`${depends} ${depends === 1 ? 'depends' : 'depend'} on rules`),
  ]
    .filter((part) => typeof part === 'string')
    .join('; ');
}

const NAME_COLUMNS_MIN = 28;
const TONES = { rejected: 'bad', 'not sure': 'warn', ok: 'good' } as const;

/** Jobs of one entry that differ in nothing that is shown are one row. */
function jobRows(
  checks: readonly JobCheck[],
  currency: string,
  { columns, paint }: Layout,
): readonly (readonly string[])[] {
  const rows = groupsOf(checks, (check) => {
    const { job, terms, outcome } = check;
    return JSON.stringify([job.definedAs, classColumn(terms), terms.costMicros, outcome, reasonsOf(check)]);
  });
  return rows.map(([first, ...more]) => {
    const { job, terms, outcome } = first;
    const count = 1 + more.length;
    const name = printable(count === 1 ? job.name : `${job.definedAs} (${count} jobs)`);
    return [
      shorten(name, Math.max(NAME_COLUMNS_MIN, Math.floor(columns / 3))),
      printable(classColumn(terms)),
      amountText(terms.costMicros * count, 'micros', currency, 'up'),
      paint[TONES[outcome]](outcome),
      printable(reasonsOf(first)),
    ];
  });
}

function reasonsOf({ job, rejects, undecided, watched }: JobCheck): string {
  const reasons = [...rejects.map(ruleName), ...undecided.map((each) => `${ruleName(each)}?`)];
  reasons.push(...watched.map(ruleName));
  if (job.dependsOn !== undefined) reasons.push('depends on rules');
  if (unreadBy(job).length > 0) reasons.push('not read');
  return [...new Set(reasons)].join(', ');
}

/** Shortens the middle, because the end distinguishes jobs of a matrix. */
function shorten(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  const letters = [...text];
  const tail = Math.floor((columns - 1) / 2);
  return `${letters.slice(0, columns - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}
