import type { RolloutReportedView } from '../../../functions/answers/rollout/model.ts';
import { ENV_THRESHOLDS_TOPIC } from '../../../functions/names.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
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
import { editBase } from '../budget/edit-command.ts';
import { namedRows, readWhich, toldRefusal, wholeRollout } from './rollout-rows.ts';
import { rolloutName } from './rollout-text.ts';

const HELP = `tollgate rollout report <group> … | --all [flags]

Sends the owner of each group or project the shadow report of the last two weeks, and writes down when: that is the step "reported".
Without a topic of owners nothing is sent or written down; the text is shown instead.

  <group>              a path, GitLab's id, project/7, or instance, whose owner is finance
  --all                everybody of tollgate rollout in shadow whose owner has no report yet
  --topic <arn>        the SNS topic of owners     (default: $${ENV_THRESHOLDS_TOPIC})
  --console <url>      where the console is, for the link in the message
  --told               you told the owners yourself: sends nothing and writes that down
  --reason <text>      for the change log          (default: shadow report)
  --actor <name>       who does it                 (default: the user of this machine)
  --as <role>          admin (the default), finance or owner:<group>
  --base none          no set of limits was ever published, and this begins the first
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table or the topic does not answer, 2 nobody could be told or the desk refused, 3 wrong usage`;

const FLAGS = {
  all: 'switch',
  topic: 'text',
  told: 'switch',
  reason: 'text',
  actor: 'text',
  as: 'text',
  base: 'text',
  ...BUDGET_FLAGS,
} as const;
/** One call makes so many reports. */
const REPORTS_MAX = 20;

export const rolloutReportCommandOn = (deps: BudgetDeps): Command => ({
  name: 'rollout report',
  summary: 'Sends owners the shadow report of their groups, and writes down when',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, FLAGS, { max: 100, what: 'groups' });
    const which = readWhich(words, values.all);
    const actor = readActor(values, deps);
    const why = readReason(values.reason ?? 'shadow report');
    const topic = values.topic ?? (io.env[ENV_THRESHOLDS_TOPIC] || undefined);
    return withBudget(deps.open, { ...values, topic }, io, async (budget) => {
      const api = budget.apiOf(actor, readRights(values, budget.directory));
      await editBase(budget, values.base);
      const rows =
        which === 'all'
          ? (await wholeRollout(api)).rows.filter(({ classes }) =>
              classes.some(({ step }) => step === 'shadow'),
            )
          : await namedRows(which, api, budget);
      const subjects = rows.map(({ subject }) => subject);
      const reports: RolloutReportedView['reports'][number][] = [];
      for (let start = 0; start < subjects.length; start += REPORTS_MAX) {
        const part = subjects.slice(start, start + REPORTS_MAX);
        const response = await api.rollout.reports.$post({
          json: { subjects: part, told: values.told, why },
        });
        const refused = await toldRefusal(response, values.json, io);
        if (refused !== undefined) return refused;
        reports.push(...(await answeredInProcess(Promise.resolve(response))).reports);
      }
      if (values.json) io.out(`${JSON.stringify({ reports })}\n`);
      else
        io.out(
          reports.length === 0 ? 'Nobody is to be told.\n' : reportsText(reports, paintWhen(io.colours)),
        );
      const unsent = reports.filter(({ outcome }) => outcome === 'no-way').length;
      if (unsent > 0 && !values.json) io.err(NO_WAY);
      return unsent > 0 ? EXIT.wouldReject : EXIT.ok;
    });
  },
});

export const rolloutReportCommand: Command = rolloutReportCommandOn(BUDGET_DEPS);

const NO_WAY = `Nothing was sent, and nothing was written down: name the topic of owners with --topic, or tell them yourself and say --told.\n`;

const WORDS: Readonly<Record<RolloutReportedView['reports'][number]['outcome'], string>> = {
  sent: 'sent to',
  'told-before': 'sent within the last hour to',
  'told-otherwise': 'told by you:',
  'no-way': 'not sent to',
};

const reportsText = (reports: RolloutReportedView['reports'], paint: Paint): string =>
  reports
    .map(({ subject, path, owner, contact, outcome, title, text }) => {
      const who = `${printable(owner)}${contact === undefined ? '' : ` (${printable(contact)})`}`;
      const line = `${paint.strong(printable(rolloutName({ subject, path })))}  ${WORDS[outcome]} ${who}\n`;
      return outcome === 'no-way' ? `${line}\n${printable(title)}\n\n${text}\n\n` : line;
    })
    .join('');
