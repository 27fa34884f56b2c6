import { classColumn } from '../../../policies/text/rejection-text.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable, widthOf } from '../../terminal/paint.ts';
import type { JobCheck } from './job-check.ts';
import { unreadBy } from './pipeline-check.ts';

/** Jobs that come from one entry of the file and meet the same: a row of the table. */
interface Siblings {
  readonly first: JobCheck;
  readonly count: number;
}

/** Below this a terminal is narrow: names are shortened so that the verdict stays visible. */
const NARROW_COLUMNS = 110;
const NAME_COLUMNS = { narrow: 28, wide: 60 } as const;

/** A row per job: name, runner class, cost, verdict, and why. Jobs of one matrix that meet the same share a row. */
export function jobRows(
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
  if (widthOf(text) <= columns) return text;
  const letters = [...text];
  const tail = Math.floor((columns - 1) / 2);
  return `${letters.slice(0, columns - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}
