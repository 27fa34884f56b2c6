import type { LimitEdit } from '../../../functions/core/limits/desk/limit-edit.ts';
import type { DeskIo, ExitCode } from '../../terminal/command.ts';
import type { FlagValues } from '../../terminal/flags.ts';
import { type Budget, withBudget } from '../api/open-api.ts';
import {
  BUDGET_FLAGS,
  type BudgetDeps,
  EDIT_FLAGS,
  readActor,
  readReason,
  readRights,
} from './budget-flags.ts';
import { type EditBase, editBase, makeEdit } from './make-edit.ts';

/** The flags of every command that makes an edit. */
export const EDITING_FLAGS = { ...EDIT_FLAGS, 'dry-run': 'switch', ...BUDGET_FLAGS } as const;

export type EditingFlags = FlagValues<typeof EDITING_FLAGS> & { readonly json: boolean };

/** An edit, made of what is live now. */
export interface EditMade {
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
  io: DeskIo,
  deps: BudgetDeps,
  make: (base: EditBase, budget: Budget) => EditMade | Promise<EditMade>,
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
