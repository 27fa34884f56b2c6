import { instantText } from '../../../policies/text/edge-text.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import type { SetView } from './live-set.ts';

/** Three lines about one set. @param zone - of the times */
export function setText({ set, edit, at, actor, why, source }: SetView, zone: string, paint: Paint): string {
  return [
    `set    ${paint.strong(set)}, edit ${edit}`,
    `since  ${instantText(Date.parse(at), zone)}`,
    `by     ${printable(actor)}, from ${printable(source)}: ${printable(why)}`,
    '',
  ].join('\n');
}

export const NOTHING_LIVE =
  'No set of limits was ever published here: those packed with the functions are in force.';
