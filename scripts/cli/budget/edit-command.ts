/** The way of every edit from the command line: on what is live, shown or applied, and its outcome told. */
import type { LimitEdit, LiveLimits } from '../../../functions/core/limits/index.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { ExitCode, TerminalIo } from '../../terminal/command.ts';
import type { FlagValues } from '../../terminal/flags.ts';
import { type BudgetContext, withBudget } from '../api/open-api.ts';
import { NOTHING_LIVE } from '../limits/set-text.ts';
import { backtestEdit } from './backtest-edit.ts';
import {
  BUDGET_FLAGS,
  type BudgetDeps,
  EDIT_FLAGS,
  readActor,
  readReason,
  readRights,
  type WhoEdits,
} from './budget-flags.ts';
import { type OutcomeFormat, tellOutcome } from './tell-outcome.ts';
import { tellPreview } from './tell-preview.ts';

/** The flags of every command that makes an edit. */
export const EDITING_FLAGS = { ...EDIT_FLAGS, 'dry-run': 'switch', ...BUDGET_FLAGS } as const;

type EditingFlags = FlagValues<typeof EDITING_FLAGS> & { readonly json: boolean };

/** An edit, made of what is live now. */
interface EditMade {
  readonly edits: readonly LimitEdit[];
  readonly subject?: string | undefined;
}

/**
 * Opens, lets the command say what it wants, and shows or applies that.
 *
 * @param source - for the change log. @param make - @throws {UsageError} for what cannot be meant.
 */
export function editCommand(
  values: EditingFlags,
  io: TerminalIo,
  deps: BudgetDeps,
  make: (base: EditBase, budget: BudgetContext) => EditMade | Promise<EditMade>,
): Promise<ExitCode> {
  const dryRun = values['dry-run'];
  const actor = readActor(values, deps);
  const why = dryRun && values.reason === undefined ? 'dry run' : readReason(values.reason);
  return withBudget(deps.open, values, io, async (budget) => {
    const rights = readRights(values, budget.directory);
    const base = await editBase(budget, values.base);
    const { edits, subject } = await make(base, budget);
    const who = { actor, why, rights, source: 'cli', ...(values.confirm && { confirmed: true }) };
    return makeEdit({ edits, who, dryRun, json: values.json, subject }, base, budget, io);
  });
}

interface EditWanted {
  readonly edits: readonly LimitEdit[];
  readonly who: WhoEdits;
  readonly dryRun: boolean;
  readonly json: boolean;
  /** The subject whose jobs a dry run counts; absent: everybody's. */
  readonly subject?: string | undefined;
}

/** What edits are made on; undefined set: none was ever live, and the packed limits are what the first edit edits. */
interface EditBase {
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
  { desk, packed }: Pick<BudgetContext, 'desk' | 'packed'>,
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
  budget: BudgetContext,
  io: TerminalIo,
): Promise<ExitCode> {
  const telling: OutcomeFormat = { currency: budget.policy.currency, json, io };
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
