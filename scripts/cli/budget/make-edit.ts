/** The way of every edit from the command line: on what is live, shown or applied, and its outcome told. */
import type { LimitEdit } from '../../../functions/core/limits/desk/limit-edit.ts';
import type { LiveLimits } from '../../../functions/core/limits/desk/live-limits.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { DeskIo, ExitCode } from '../../terminal/command.ts';
import type { Budget } from '../api/open-api.ts';
import { NOTHING_LIVE } from '../limits/set-text.ts';
import { backtestEdit } from './backtest-edit.ts';
import type { WhoEdits } from './budget-flags.ts';
import { type Telling, tellOutcome } from './tell-outcome.ts';
import { tellPreview } from './tell-preview.ts';

export interface EditWanted {
  readonly edits: readonly LimitEdit[];
  readonly who: WhoEdits;
  readonly dryRun: boolean;
  readonly json: boolean;
  /** The subject whose jobs a dry run counts; absent: everybody's. */
  readonly subject?: string | undefined;
}

/** What edits are made on; undefined set: none was ever live, and the packed limits are what the first edit edits. */
export interface EditBase {
  readonly live: LiveLimits | undefined;
  readonly set: string | undefined;
  readonly limits: LimitSet;
}

/** `--base` for the first set. */
export const NONE = 'none';

/**
 * An edit of nothing would begin with the limits of this project, which may be others than those the functions were
 * deployed with: whoever wants that says so.
 *
 * @param base - `--base`; absent: what is live now. @throws {Error} with the remedy where no set was ever live.
 */
export async function editBase(
  { desk, packed }: Pick<Budget, 'desk' | 'packed'>,
  base: string | undefined,
): Promise<EditBase> {
  const live = await desk.live();
  if (live !== undefined)
    return { live, limits: live.limits, set: base === NONE ? undefined : (base ?? live.pointer.set) };
  if (base === NONE) return { live, set: undefined, limits: packed.limits };
  throw new Error(
    `${NOTHING_LIVE}\nMake them live first: tollgate limits publish ${packed.file} --why "first set"; or say --base ${NONE}, and the first set is ${packed.file} with this edit`,
  );
}

/** @throws {LimitsError} where it may be live or not. */
export async function makeEdit(
  { edits, who, dryRun, json, subject }: EditWanted,
  { live, set, limits }: EditBase,
  budget: Budget,
  io: DeskIo,
): Promise<ExitCode> {
  const telling: Telling = { currency: budget.policy.currency, json, io };
  if (!dryRun) return tellOutcome(await budget.desk.apply(edits, { ...who, base: set }), set, telling);
  if (set !== live?.pointer.set && (await budget.desk.at(set)) === undefined)
    return tellOutcome({ outcome: 'stale', live }, set, telling);
  const preview = await budget.desk.preview(edits, set);
  const lived =
    preview.outcome === 'valid' && !preview.stale && preview.rows.length > 0
      ? await backtestEdit({ before: limits, after: preview.limits, subject }, budget, io)
      : undefined;
  return tellPreview(preview, lived, { base: set, live }, telling);
}
