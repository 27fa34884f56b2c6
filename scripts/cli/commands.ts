import type { Command, CommandEntry } from '../terminal/command.ts';

/** Commands of one module, with their summaries. */
const rows = (
  module: () => Promise<{ readonly commands: readonly Command[] }>,
  summaries: Readonly<Record<string, string>>,
): readonly CommandEntry[] =>
  Object.entries(summaries).map(([name, summary]) => ({
    name,
    summary,
    load: async () => {
      const found = (await module()).commands.find((each) => each.name === name);
      if (found === undefined) throw new Error(`${name}: has no row in its module`);
      return found;
    },
  }));

/** In the order people meet them. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'check',
    summary: 'What would this pipeline meet? Lists its jobs, what they cost and what rejects them',
    load: async () => (await import('./check/check-command.ts')).checkCommand,
  },
  {
    name: 'can-i',
    summary: 'Would such a job be admitted now? Touches no counter',
    load: async () => (await import('./can-i/can-i-command.ts')).canICommand,
  },
  {
    name: 'explain',
    summary: 'Why was this job decided as it was? Every rule, the numbers then and now',
    load: async () => (await import('./explain/explain-command.ts')).explainCommand,
  },
  {
    name: 'report shadow',
    summary: 'What would have been rejected so far? By an enabled controller, and by what only watches',
    load: async () => (await import('./report/shadow-command.ts')).shadowReportCommand,
  },
  {
    name: 'rollout',
    summary: 'Where does each group stand between watching and enforcing, and what does its next step need?',
    load: async () => (await import('./rollout/ls-command.ts')).rolloutCommand,
  },
  {
    name: 'rollout ls',
    summary: 'The same as tollgate rollout',
    load: async () => (await import('./rollout/ls-command.ts')).rolloutLsCommand,
  },
  {
    name: 'rollout next',
    summary: 'One step on for groups that have what it needs; shows which jobs would have failed',
    load: async () => (await import('./rollout/move-commands.ts')).rolloutNextCommand,
  },
  {
    name: 'rollout back',
    summary: 'One step back for groups, at once and whatever is missing',
    load: async () => (await import('./rollout/move-commands.ts')).rolloutBackCommand,
  },
  {
    name: 'rollout report',
    summary: 'Sends owners the shadow report of their groups, and writes down when',
    load: async () => (await import('./rollout/report-command.ts')).rolloutReportCommand,
  },
  {
    name: 'backtest',
    summary: 'What if other limits or prices had been in force? Replays the jobs of the last weeks',
    load: async () => (await import('./backtest/backtest-command.ts')).backtestCommand,
  },
  {
    name: 'statement',
    summary: 'What is a group charged for a month? For people, as CSV or FOCUS, with corrections',
    load: async () => (await import('./statement/statement-command.ts')).statementCommand,
  },
  {
    name: 'statement closed',
    summary: 'A month as it was closed, which never changes: number, lines, adjustments and hash',
    load: async () => (await import('./statement/closed-command.ts')).closedCommand,
  },
  {
    name: 'statement verify',
    summary: 'Are the closed months as they were written? Hashes, chains and numbers',
    load: async () => (await import('./statement/verify-command.ts')).verifyCommand,
  },
  {
    name: 'audit',
    summary:
      'Is every job of a month charged what it should be? Recomputed from GitLab and the price lists alone',
    load: async () => (await import('./audit/audit-command.ts')).auditCommand,
  },
  {
    name: 'prices compare',
    summary:
      'What did a minute of each runner class cost by the cloud bill? With prices that would have paid it',
    load: async () => (await import('./prices/compare-command.ts')).pricesCompareCommand,
  },
  {
    name: 'report spend',
    summary: 'What was spent in any period, beside the one before? By group, project, class, branch, job …',
    load: async () => (await import('./report/spend-command.ts')).spendCommand,
  },
  {
    name: 'report forecast',
    summary: 'What will a group’s limits come to, and how far off were such forecasts?',
    load: async () => (await import('./report/forecast-command.ts')).forecastCommand,
  },
  {
    name: 'report chargeback',
    summary: 'What is a group charged for a month? The same as tollgate statement',
    load: async () => (await import('./budget/chargeback-command.ts')).chargebackCommand,
  },
  {
    name: 'rebuild',
    summary: 'Do the counters show what their jobs make? Recounts all of them, and repairs if told to',
    load: async () => (await import('./truth/rebuild-command.ts')).rebuildCommand,
  },
  {
    name: 'reconcile',
    summary: 'Do the books agree with GitLab? Lists what differs, and mends it as the sweep would',
    load: async () => (await import('./truth/reconcile-command.ts')).reconcileCommand,
  },
  {
    name: 'proof',
    summary: 'Is it enforced? Whether rejected jobs failed and every job that ran was asked about',
    load: async () => (await import('./truth/reconcile-command.ts')).proofCommand,
  },
  {
    name: 'coverage',
    summary: 'Of the jobs that ran, how many were asked about? Which runners pass by, and what to do',
    load: async () => (await import('./coverage/coverage-command.ts')).coverageCommand,
  },
  {
    name: 'forget user',
    summary: 'Takes a user’s id out of all that is kept about jobs',
    load: async () => (await import('./forget/forget-user-command.ts')).forgetUserCommand,
  },
  {
    name: 'budget ls',
    summary: 'How do the limits stand? Used, held, left, and when they run out',
    load: async () => (await import('./budget/ls-command.ts')).budgetLsCommand,
  },
  {
    name: 'budget show',
    summary: 'One group: its limits, those above it, grants, freezes and break-glasses',
    load: async () => (await import('./budget/show-command.ts')).budgetShowCommand,
  },
  {
    name: 'budget set',
    summary: 'Sets a limit without a deploy; --dry-run shows which jobs would have failed',
    load: async () => (await import('./budget/set-command.ts')).setCommand,
  },
  {
    name: 'budget remove',
    summary: 'Takes a limit away; those above it still count',
    load: async () => (await import('./budget/remove-command.ts')).removeCommand,
  },
  {
    name: 'budget scale',
    summary: 'Changes all limits of a group and below it by a share, as one edit',
    load: async () => (await import('./budget/scale-command.ts')).scaleCommand,
  },
  {
    name: 'budget grant',
    summary: 'Gives more for a time, on top of a limit; a large grant waits for approval',
    load: async () => (await import('./budget/grant-command.ts')).grantCommand,
  },
  {
    name: 'budget revoke',
    summary: 'Takes a grant back',
    load: async () => (await import('./budget/revoke-command.ts')).revokeCommand,
  },
  {
    name: 'budget undo',
    summary: 'Takes the last edit of the limits back',
    load: async () => (await import('./budget/undo-command.ts')).undoCommand,
  },
  {
    name: 'budget history',
    summary: 'Who changed the limits, when, from what to what, and why',
    load: async () => (await import('./budget/history-command.ts')).historyCommand,
  },
  {
    name: 'budget export',
    summary: 'The live limits as CSV, for a spreadsheet and back',
    load: async () => (await import('./budget/export-command.ts')).exportCommand,
  },
  {
    name: 'budget import',
    summary: 'Reads limits back from CSV: checked as a whole, shown with totals, all or nothing',
    load: async () => (await import('./budget/import-command.ts')).importCommand,
  },
  {
    name: 'budget requests',
    summary: 'Who asked for more and waits for approval?',
    load: async () => (await import('./budget/requests-command.ts')).requestsCommand,
  },
  {
    name: 'budget approve',
    summary: 'Gives what somebody asked for',
    load: async () => (await import('./budget/requests-command.ts')).approveCommand,
  },
  {
    name: 'budget decline',
    summary: 'Declines what somebody asked for',
    load: async () => (await import('./budget/requests-command.ts')).declineCommand,
  },
  {
    name: 'freeze',
    summary: 'No job of a group starts until a day, or until it is lifted; running jobs finish',
    load: async () => (await import('./freeze/freeze-command.ts')).freezeCommand,
  },
  {
    name: 'unfreeze',
    summary: 'Lifts a freeze: jobs start again',
    load: async () => (await import('./freeze/unfreeze-command.ts')).unfreezeCommand,
  },
  {
    name: 'breakglass',
    summary: 'Lets jobs of named people or on protected refs pass limits, capped and reviewed',
    load: async () => (await import('./breakglass/break-command.ts')).breakGlassCommand,
  },
  {
    name: 'breakglass ls',
    summary: 'Who was let past the limits, and what has nobody looked at yet?',
    load: async () => (await import('./breakglass/ls-command.ts')).breakGlassLsCommand,
  },
  {
    name: 'breakglass end',
    summary: 'Ends a break-glass before its time',
    load: async () => (await import('./breakglass/end-commands.ts')).endCommand,
  },
  {
    name: 'breakglass review',
    summary: 'Notes that somebody has looked at what was done with a break-glass',
    load: async () => (await import('./breakglass/end-commands.ts')).reviewCommand,
  },
  {
    name: 'reservations ls',
    summary: 'Which jobs hold an amount now, and which of them should have ended?',
    load: async () => (await import('./reservations/ls-command.ts')).reservationsCommand,
  },
  {
    name: 'requeue ls',
    summary: 'Which rejected jobs wait to be retried when a slot is free, and what became of the others?',
    load: async () => (await import('./requeue/ls-command.ts')).requeueLsCommand,
  },
  {
    name: 'requeue consent',
    summary: 'Keeps the token that a group gives for its jobs to be retried',
    load: async () => (await import('./requeue/consent-command.ts')).consentCommand,
  },
  {
    name: 'notes consent',
    summary: 'Keeps the token that a group gives for notes in its merge requests',
    load: async () => (await import('./requeue/consent-command.ts')).noteConsentCommand,
  },
  ...rows(() => import('./limits/views.ts'), {
    'limits show': 'Which limits are live? Who made them so, when and why; or the document itself',
    'limits sets': 'What was live before? The last sets of limits, newest first',
    'limits check': 'Do the live limits still fit the policy here? To be asked before it is deployed',
  }),
  {
    name: 'limits publish',
    summary: 'Makes a limits document live, whole or not at all, without a deploy',
    load: async () => (await import('./limits/publish-command.ts')).publishCommand,
  },
  {
    name: 'limits retired',
    summary: 'Lists plans and saved views that are left in the table and ignored',
    load: async () => (await import('./limits/retired-command.ts')).retiredCommand,
  },
  {
    name: 'directory show',
    summary: 'Which groups and projects does Tollgate know, and which groups are above one?',
    load: async () => (await import('./directory/show-command.ts')).directoryShowCommand,
  },
  {
    name: 'directory sync',
    summary: 'Learns the groups and projects of GitLab now, without waiting for the schedule',
    load: async () => (await import('./directory/sync-command.ts')).syncCommand,
  },
  {
    name: 'instance ls',
    summary: 'Of which GitLabs does this table have books?',
    load: async () => (await import('./instance/instance-commands.ts')).instanceLsCommand,
  },
  {
    name: 'instance add',
    summary: 'Lets a GitLab begin books of its own in a table that has those of another one',
    load: async () => (await import('./instance/instance-commands.ts')).addCommand,
  },
  {
    name: 'instance forget',
    summary: 'Takes a name back that was added by mistake',
    load: async () => (await import('./instance/instance-commands.ts')).forgetCommand,
  },
  {
    name: 'policy validate',
    summary: 'Are policy, limits and directory valid, and do they let the platform team deploy?',
    load: async () => (await import('./policy/validate-command.ts')).validateCommand,
  },
  {
    name: 'policy diff',
    summary: 'What changes between two policies, and does it tighten or loosen?',
    load: async () => (await import('./policy/diff-command.ts')).diffCommand,
  },
  {
    name: 'policy import',
    summary: "Rules from a GitLab Runner's config.toml, word by word, and where policy and Runner contradict",
    load: async () => (await import('./policy/import-command.ts')).policyImportCommand,
  },
  {
    name: 'policy test',
    summary: 'Do the policies decide what their fixtures expect?',
    load: async () => (await import('./policy/test-command.ts')).testCommand,
  },
  {
    name: 'cost',
    summary: 'What does this deployment cost at AWS? Every line, idle and per job',
    load: async () => (await import('./cost/cost-command.ts')).costCommand,
  },
  {
    name: 'doctor',
    summary: 'Is it really on, does it really hold? Every part of a deployment, each with a remedy',
    load: async () => (await import('./doctor/doctor-command.ts')).doctorCommand,
  },
  {
    name: 'gitlab setup',
    summary:
      'Sets GitLab up for Tollgate: controller in dry run, scope, token, webhooks; again as often as you like',
    load: async () => (await import('./gitlab/setup-command.ts')).gitlabSetupCommand,
  },
  {
    name: 'gitlab status',
    summary:
      'Is GitLab still set up for Tollgate? What is right, wrong and unknown, webhooks that fail included',
    load: async () => (await import('./gitlab/setup-command.ts')).gitlabStatusCommand,
  },
  {
    name: 'gitlab rotate-token',
    summary: "Replaces the relays' token: makes one, waits until a relay uses it, revokes the old one",
    load: async () => (await import('./gitlab/rotate-command.ts')).rotateTokenCommand,
  },
  {
    name: 'gitlab rotate-webhook-key',
    summary: 'Replaces the key that webhooks sign with: both are taken until every webhook has the new one',
    load: async () => (await import('./gitlab/hook-key-command.ts')).rotateHookKeyCommand,
  },
  {
    name: 'gitlab canary',
    summary:
      'Does GitLab obey both answers? One job that must run and one that must fail, on a runner of its own',
    load: async () => (await import('./gitlab/canary/canary-command.ts')).gitlabCanaryCommand,
  },
  {
    name: 'gitlab teardown',
    summary:
      'Takes out of GitLab what setup made: disables the controller, removes webhooks, token and controller',
    load: async () => (await import('./gitlab/teardown-command.ts')).teardownCommand,
  },
  {
    name: 'controller status',
    summary: 'Does GitLab obey Tollgate now? The state of the runner controller, and what arming would do',
    load: async () => (await import('./controller/controller-command.ts')).statusCommand,
  },
  {
    name: 'controller enable',
    summary: 'Arms Tollgate: from now on GitLab fails the jobs that are rejected',
    load: async () => (await import('./controller/controller-command.ts')).enableCommand,
  },
  {
    name: 'controller dry-run',
    summary: 'Disarms Tollgate: every job runs, and Tollgate goes on being asked',
    load: async () => (await import('./controller/controller-command.ts')).dryRunCommand,
  },
  {
    name: 'controller disable',
    summary: 'Disarms Tollgate: every job runs, and nobody is asked',
    load: async () => (await import('./controller/controller-command.ts')).disableCommand,
  },
  {
    name: 'init',
    summary: 'Drafts policy, limits and directory from your runners, groups and a month of jobs',
    load: async () => (await import('./init/init-command.ts')).initCommand,
  },
  {
    name: 'fleet ls',
    summary: 'Which runners can the job router reach? Registration, managers, versions, and what to change',
    load: async () => (await import('./fleet/ls-command.ts')).fleetLsCommand,
  },
  {
    name: 'fleet migrate',
    summary: 'From registration tokens to authentication tokens: what is next for each runner, or does it',
    load: async () => (await import('./fleet/migrate-command.ts')).migrateCommand,
  },
  {
    name: 'open',
    summary: 'Opens the console’s page of a group or job in the browser, or prints its address',
    load: async () => (await import('./login/open-command.ts')).openCommand,
  },
  {
    name: 'login',
    summary: 'Signs this terminal in to a console with GitLab, so that commands need no AWS keys',
    load: async () => (await import('./login/login-command.ts')).loginCommand,
  },
  {
    name: 'logout',
    summary: 'Ends the session that tollgate login began, at the console and here',
    load: async () => (await import('./login/login-command.ts')).logoutCommand,
  },
  ...rows(
    async () => ({ commands: (await import('./completion/completion.ts')).completionCommands(COMMANDS) }),
    {
      completion: 'Lets bash, zsh or fish complete commands and flags',
      man: 'Prints the manual page of all commands',
    },
  ),
  {
    name: 'mcp',
    summary: 'Answers editors and agents over the Model Context Protocol: can I afford this rerun?',
    load: async () => (await import('./mcp/mcp-command.ts')).mcpCommandOf(COMMANDS),
  },
];
