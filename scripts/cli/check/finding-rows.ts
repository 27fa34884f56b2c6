import { printable, widthOf } from '../../terminal/paint.ts';
import type { PipelineFinding } from './findings.ts';
import { shortenedName } from './job-rows.ts';

/** More names do not help. */
const ROWS_MAX = 6;
const NAME_COLUMNS_MAX = 44;
const INDENT = '      ';
const GAP_COLUMNS = 2;
/** File and line, the end of the path at least. */
const PLACE_COLUMNS_MIN = 20;

/** Jobs of a finding, with file and line; jobs of one entry are listed once. */
export function findingRows(
  { jobs, everyJob }: PipelineFinding,
  columns: number,
): readonly (readonly string[])[] {
  if (everyJob && jobs.length > 1) return [[`${INDENT}every job`]];
  const all = entriesOf(jobs);
  const told = all.length > ROWS_MAX ? all.slice(0, ROWS_MAX - 1) : all;
  const rest = jobs.length - told.reduce((sum, { count }) => sum + count, 0);
  const names = told.map(({ name }) => `${INDENT}${shortenedName(printable(name), NAME_COLUMNS_MAX)}`);
  const room = columns - Math.max(0, ...names.map(widthOf)) - GAP_COLUMNS;
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
