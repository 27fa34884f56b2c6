import { DocumentError } from '../../policy/read-documents.ts';
import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { answerOf } from '../api/api-in-process.ts';
import { liveSet } from '../api/edit-answer.ts';
import { withBudget } from '../api/open-api.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  readActor,
  readReason,
  readRights,
} from '../budget/budget-flags.ts';
import { editProblemText, tellOutcome, tellRefusal } from '../budget/tell-outcome.ts';
import { tellPreview } from '../budget/tell-preview.ts';
import { PLAN_HELP, planOfWord } from './plan-word.ts';

const HELP = `tollgate plan adopt <plan> [flags]

Makes a plan an edit of the limits, in force from its day on: until then every limit is as it is today, and then another takes its
place. That takes a second person: it becomes a request (tollgate budget approve). Like any edit it is taken back with budget undo.

${PLAN_HELP}
  --dry-run            shows what would change and writes nothing
  --reason <text>      why, for the change log (needed)
  --actor <name>       who adopts it               (default: the user of this machine)
  --as <role>          admin (the default) or finance
  --confirm            I have seen what the command asks to be confirmed
${BUDGET_FLAGS_HELP}

Exit codes: 0 live, 1 the table does not answer (ask tollgate budget history), 2 refused or waits for approval, 3 invalid`;

export const planAdoptCommandOn = (deps: BudgetDeps): Command => ({
  name: 'plan adopt',
  summary: 'Makes a plan an edit of the limits, in force from its day on',
  help: HELP,
  run: async (args, io) => {
    const flags = {
      'dry-run': 'switch',
      reason: 'text',
      actor: 'text',
      as: 'text',
      confirm: 'switch',
      ...BUDGET_FLAGS,
    } as const;
    const { values, words } = readFlags(args, flags, { max: 1, what: 'one plan' });
    const isDryRun = values['dry-run'];
    const why = isDryRun && values.reason === undefined ? 'dry run' : readReason(values.reason);
    const actor = readActor(values, deps);
    return withBudget(deps.open, values, io, async ({ api, apiOf, directory, policy }) => {
      const { id: plan } = await planOfWord(words[0], api);
      const live = await liveSet(api);
      const format = { currency: policy.currency, json: values.json, io };
      const { plans } = apiOf(actor, readRights(values, directory));
      const json = { why, confirmed: values.confirm, ...(isDryRun && { dry_run: true }) };
      const answer = await answerOf(plans[':id'].adoption.$post({ param: { id: plan }, json }));
      if (!answer.ok) {
        if (answer.status === 422 && answer.refused.problems === undefined)
          throw new UsageError(`${answer.refused.error.message} ${answer.refused.error.remedy}`);
        return tellRefusal(answer, live?.set, format);
      }
      const { body } = answer;
      if (body.outcome === 'valid') return tellPreview(body, undefined, { base: live?.set, live }, format);
      if (body.outcome === 'invalid') throw new DocumentError(body.problems.map(editProblemText));
      return tellOutcome({ ok: true, body }, live?.set, format);
    });
  },
});

export const planAdoptCommand: Command = planAdoptCommandOn(BUDGET_DEPS);
