import { type Paint, printable } from '../paint.ts';
import type { SetShown } from './live-set.ts';

/** Three lines about one set. */
export function setText({ set, edit, at, actor, why, source }: SetShown, paint: Paint): string {
  return [
    `set    ${paint.strong(set)}, edit ${edit}`,
    `since  ${at}`,
    `by     ${printable(actor)}, from ${printable(source)}: ${printable(why)}`,
    '',
  ].join('\n');
}

export const NOTHING_LIVE =
  'No set of limits was ever published here: those packed with the functions are in force.';
