import { type LimitPointer, type LimitTable, readLimitSet } from '../../../functions/core/limits/index.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import { printable } from '../../terminal/paint.ts';
import { table as rows } from '../../terminal/table.ts';
import { limitChanges } from '../policy/diff/diff-limits.ts';
import type { PolicyChange } from '../policy/diff/values.ts';

/** A screenful; --json has all. */
const SHOWN_MAX = 40;

interface ComparedWith {
  readonly table: LimitTable;
  readonly policy: Policy;
  readonly directory: Directory;
  readonly nowMs: number;
}

/** Changes since the published set. Undefined: none is published, or this policy cannot read it. */
export async function changesSince(
  live: LimitPointer | undefined,
  limits: LimitSet,
  { table, policy, directory, nowMs }: ComparedWith,
): Promise<readonly PolicyChange[] | undefined> {
  if (live === undefined) return undefined;
  const before = parseLimits((await readLimitSet(live.set, table)).document, live.set, policy);
  return before.ok ? limitChanges({ from: before.value, to: limits, directory, nowMs }) : undefined;
}

export function changesText(
  changes: readonly PolicyChange[] | undefined,
  io: Pick<TerminalIo, 'columns'>,
): string {
  if (changes === undefined) return 'No set is live that these could be compared with.\n';
  if (changes.length === 0) return 'No limit differs from the live set.\n';
  const shown = changes
    .slice(0, SHOWN_MAX)
    .map(({ effect, at, what }) => [effect, printable(at), printable(what)]);
  const more = changes.length - shown.length;
  return `${rows([{}, {}, {}], shown, io.columns)}${more > 0 ? `… and ${more} more (--json lists all)\n` : ''}`;
}
