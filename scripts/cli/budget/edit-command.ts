/**
 * Runs every edit of the command line: based on published limits, previewed or applied by the API, and
 * reported.
 */
import type { BacktestAnswer } from '../../../functions/answers/limits/edit-models.ts';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import type { ExitCode, TerminalIo } from '../../terminal/command.ts';
import type { FlagValues } from '../../terminal/flags.ts';
import { answerOf } from '../api/api-in-process.ts';
import { countToTheEnd } from '../api/count-to-the-end.ts';
import { liveSet, ofSet, type SentEdit } from '../api/edit-answer.ts';
import { type BudgetContext, withBudget } from '../api/open-api.ts';
import type { SetView } from '../limits/live-set.ts';
import { NOTHING_LIVE } from '../limits/set-text.ts';
import {
  BUDGET_FLAGS,
  type BudgetDeps,
  EDIT_FLAGS,
  readActor,
  readReason,
  readRights,
} from './budget-flags.ts';
import { editProblemText, type OutcomeFormat, tellOutcome, tellRefusal } from './tell-outcome.ts';
import { type BacktestLine, tellPreview } from './tell-preview.ts';

/** The flags of every command that makes an edit. */
export const EDITING_FLAGS = { ...EDIT_FLAGS, 'dry-run': 'switch', ...BUDGET_FLAGS } as const;

type EditingFlags = FlagValues<typeof EDITING_FLAGS> & { readonly json: boolean };

/**
 * Opens, lets the command say what it wants, and shows or makes it.
 *
 * @param make - @throws {UsageError} for what cannot be meant.
 */
export function editCommand(
  values: EditingFlags,
  io: TerminalIo,
  deps: BudgetDeps,
  make: (budget: BudgetContext) => readonly SentEdit[] | Promise<readonly SentEdit[]>,
): Promise<ExitCode> {
  const actor = readActor(values, deps);
  const why = values['dry-run'] && values.reason === undefined ? 'dry run' : readReason(values.reason);
  return withBudget(deps.open, values, io, async (budget) => {
    const base = await editBase(budget, values.base);
    return makeEdit({ edits: await make(budget), actor, why }, base, values, budget, io);
  });
}

interface EditWanted {
  readonly edits: readonly SentEdit[];
  readonly actor: string;
  readonly why: string;
}

/** The base of edits. */
interface EditBase {
  readonly live: SetView | undefined;
  /** Undefined: none was ever live, and the packed limits are what the first edit edits. */
  readonly set: string | undefined;
}

/** `--base` for the first set. */
const NONE = 'none';

/**
 * Without published limits, an edit would start from this project's file, which may differ from the deployed
 * one; so that needs a flag.
 *
 * @param base - `--base`; absent: the published set. @throws {Error} with the remedy, if no set was ever
 * published.
 */
export async function editBase(
  { api, packedFile }: Pick<BudgetContext, 'api' | 'packedFile'>,
  base: string | undefined,
): Promise<EditBase> {
  const live = await liveSet(api);
  if (live === undefined && base !== NONE)
    throw new Error(
      `${NOTHING_LIVE}\nMake them live first: npx tollgate limits publish ${shellWord(packedFile)} --why "first set"; or say --base ${NONE}, and the first set is ${packedFile} with this edit`,
    );
  return { live, set: base === NONE ? undefined : (base ?? live?.set) };
}

/** @throws {LimitsError} where it may be live or not. */
export async function makeEdit(
  { edits: made, actor, why }: EditWanted,
  { live, set }: EditBase,
  values: Pick<EditingFlags, 'as' | 'confirm' | 'dry-run' | 'json'>,
  { apiOf, directory, policy }: BudgetContext,
  io: TerminalIo,
): Promise<ExitCode> {
  const { limits } = apiOf(actor, readRights(values, directory));
  const format: OutcomeFormat = { currency: policy.currency, json: values.json, io };
  const [header, edits] = [ofSet(set), [...made]];
  if (!values['dry-run']) {
    const json = { edits, why, confirmed: values.confirm };
    return tellOutcome(await answerOf(limits.edits.$post({ header, json })), set, format);
  }
  const shown = await answerOf(limits.preview.$post({ header, json: { edits } }));
  if (!shown.ok) return tellRefusal(shown, set, format);
  const preview = shown.body;
  if (preview.outcome === 'invalid') throw new DocumentError(preview.problems.map(editProblemText));
  const isEdit = !preview.stale && preview.rows.length > 0;
  const lived = isEdit
    ? await countToTheEnd(
        (query) => answerOf(limits.backtest.$post({ header, query, json: { edits } })),
        (answer) => (answer.ok && answer.body.outcome === 'counted' ? answer.body : undefined),
        io,
      )
    : undefined;
  if (lived?.ok === false) return tellRefusal(lived, set, format);
  return tellPreview(preview, lived && countedJobs(lived.body), { base: set, live }, format);
}

/** Undefined: nothing could be counted. */
export function countedJobs(answer: BacktestAnswer): BacktestLine | undefined {
  if (answer.outcome !== 'counted') return undefined;
  const { jobs, wouldFail, wouldFailNow, wouldWait, failed } = answer.all;
  const { days, jobsRead } = answer;
  return { days, jobsRead, jobs, wouldFail, wouldFailNow, failed, ...withoutAbsent({ wouldWait }) };
}
