import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { withBudget } from '../api/open-api.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from '../budget/budget-flags.ts';
import { namedRows, wholeRollout } from './rollout-rows.ts';
import { rolloutNeedsText, rolloutTable } from './rollout-text.ts';

const helpOf = (name: string): string => `tollgate ${name} [<group> …] [flags]

Where does each group stand between watching and enforcing, since when, and what does its next step need? The steps are
off, shadow, reported (shadow, and the owner has the shadow report), warn and enforce, for rules of cost (money, minutes)
and of capacity (jobs at once). What has no step of its own follows what is above it, at last the instance.

Days are those with jobs since the step began, four weeks at most. "violations" are those of rules
of the class that decisions recorded; a job that breaks several counts for each. tollgate rollout next counts the jobs
that would fail. "asked" is the share of jobs that GitLab asked about.

  <group>              only these, with every need: a path, GitLab's id, instance, or project/7
${BUDGET_FLAGS_HELP}

See also: tollgate rollout next, tollgate rollout back, tollgate rollout report

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

const WORDS = { max: 100, what: 'groups' };

export const rolloutLsCommandOn = (
  deps: BudgetDeps,
  name: 'rollout' | 'rollout ls' = 'rollout',
): Command => ({
  name,
  summary:
    name === 'rollout'
      ? 'Where does each group stand between watching and enforcing, and what does its next step need?'
      : 'The same as tollgate rollout',
  help: helpOf(name),
  run: async (args, io) => {
    const { values, words } = readFlags(args, BUDGET_FLAGS, WORDS);
    return withBudget(deps.open, values, io, async (budget) => {
      const whole = await wholeRollout(budget.api);
      const rows = words.length === 0 ? whole.rows : await namedRows(words, budget.api, budget);
      if (values.json) {
        io.out(`${JSON.stringify({ ...whole, rows, total: rows.length })}\n`);
        return EXIT.ok;
      }
      const paint = paintWhen(io.colours);
      io.out(rolloutTable(rows, { columns: io.columns, paint, nowMs: whole.nowMs }));
      if (words.length > 0) for (const row of rows) io.out(`\n${rolloutNeedsText(row, paint)}`);
      return EXIT.ok;
    });
  },
});

export const rolloutCommand: Command = rolloutLsCommandOn(BUDGET_DEPS);
export const rolloutLsCommand: Command = rolloutLsCommandOn(BUDGET_DEPS, 'rollout ls');
