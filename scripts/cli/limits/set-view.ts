import type { LimitChange } from '../../../functions/core/limits/limit-set.ts';
import type { LimitPointer } from '../../../functions/core/limits/limit-table.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { printable, type Screen } from '../../terminal/table.ts';

export type SetView = ReturnType<typeof setShown>;

export const setShown = (
  { set, edit }: Pick<LimitPointer, 'set' | 'edit'>,
  { atMs, actor, why, source, base }: LimitChange,
) => ({
  ...{ set, edit, at: new Date(atMs).toISOString(), actor, why, source },
  ...(base !== undefined && { base }),
});

export function setText(
  { set, edit, at, actor, why, source }: SetView,
  zone: string,
  screen: Screen,
): string {
  return [
    `set    ${screen.strong(set)}, edit ${edit}`,
    `since  ${instantText(Date.parse(at), zone)}`,
    `by     ${printable(actor)}, from ${printable(source)}: ${printable(why)}`,
    '',
  ].join('\n');
}

export const NOTHING_LIVE =
  'No limits have been published here: those packed with the functions are in force. Publish some with tollgate limits publish.';
