import type { Command, CommandEntry } from '../terminal/command.ts';

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

export const COMMANDS: readonly CommandEntry[] = [
  ...rows(() => import('./check/check-command.ts'), {
    check: 'Shows what the jobs of a pipeline cost and what rejects them',
  }),
  ...rows(() => import('./jobs/can-i.ts'), {
    'can-i': 'Decides a made-up job as if it came now; changes no counter',
  }),
  ...rows(() => import('./jobs/explain.ts'), {
    explain: 'Explains the decision about a job: every rule, the numbers then and now',
  }),
  ...rows(() => import('./report/shadow.ts'), {
    'report shadow': 'Reports which jobs an enabled controller would have failed, and which rules only watch',
    backtest: 'Replays the jobs of the last weeks under other limits or prices',
  }),
  ...rows(() => import('./rollout.ts'), {
    rollout: 'Lists each group’s step between watching and enforcing, and what the next step needs',
    'rollout ls': 'The same as tollgate rollout',
    'rollout next':
      'Moves groups one step on if they meet the requirements; shows which jobs would have failed',
    'rollout back': 'Moves groups one step back, immediately',
    'rollout report': 'Sends owners the shadow report of their groups, and records when',
  }),
  ...rows(() => import('./statement/statement.ts'), {
    statement: 'Prints the charges of a group for a month: for people, as CSV or FOCUS, with corrections',
    'statement closed':
      'Prints a month as it was closed, which never changes: number, lines, adjustments and hash',
    'statement verify': 'Checks that closed months were not changed: hashes, chains and numbers',
  }),
  ...rows(() => import('./audit/audit.ts'), {
    audit: 'Recomputes the charge of every job of a month from GitLab and the price lists alone',
  }),
  ...rows(() => import('./compare-prices.ts'), {
    'prices compare': 'Compares the cost of a minute of each runner class with a cloud bill',
  }),
  ...rows(() => import('./report/coverage.ts'), {
    'report spend':
      'Reports spending of any period next to the one before, by group, project, class, branch, job …',
    coverage: 'Shows the share of jobs that GitLab asked about, and the runners that bypass Tollgate',
  }),
  ...rows(() => import('./reconcile/reconcile-command.ts'), {
    rebuild: 'Recounts all counters from their jobs, and repairs those that drift if asked to',
    reconcile: 'Lists where the ledger and GitLab differ, and repairs it as the sweep would',
    proof: 'Proves enforcement: rejected jobs failed, and GitLab asked about every job that ran',
  }),
  ...rows(() => import('./tables/forget-user.ts'), {
    'forget user': 'Removes a user’s id from everything that is kept about jobs',
  }),
  ...rows(() => import('./budget/views.ts'), {
    'budget ls': 'Lists limits: used, held, left, and when they run out',
    'budget show': 'Shows one group: its limits, those above it, grants, freezes and break-glasses',
    'budget history': 'Lists who changed the limits, when, from what to what, and why',
    'report forecast': 'Forecasts the use of a group’s limits, and shows how far off such forecasts were',
  }),
  ...rows(() => import('./budget/edits.ts'), {
    'budget set': 'Sets a limit without a deploy; --dry-run shows which jobs would have failed',
    'budget remove': 'Removes a limit; those above it still count',
    'budget scale': 'Changes all limits of a group and below it by a share, as one edit',
    'budget undo': 'Takes the last edit of the limits back',
  }),
  ...rows(() => import('./budget/csv.ts'), {
    'budget export': 'Writes the live limits as CSV, for a spreadsheet and back',
    'budget import': 'Reads limits back from CSV: checked as a whole, shown with totals, all or nothing',
  }),
  ...rows(() => import('./budget/exceptions.ts'), {
    'budget requests': 'Lists requests for more that wait for approval',
    'budget approve': 'Approves a request: it is live within five seconds',
    'budget decline': 'Declines a request, with a note for the requester',
    'budget grant': 'Gives more for a time, on top of a limit; a large grant waits for approval',
    'budget revoke': 'Takes a grant back, from now on',
    freeze: 'Stops new jobs of a group until a day, or until it is lifted; running jobs finish',
    unfreeze: 'Lifts a freeze: jobs start again',
    breakglass: 'Lets jobs of named users or on protected refs pass limits, capped and reviewed',
    'breakglass ls': 'Lists break-glasses, and which still need a review',
    'breakglass end': 'Ends a break-glass before its time',
    'breakglass review': 'Notes that the jobs of a break-glass were reviewed',
  }),
  ...rows(() => import('./jobs/requeue.ts'), {
    'reservations ls': 'Lists jobs that hold an amount now, and marks those that should have ended',
    'requeue ls': 'Lists rejected jobs that wait to be retried, and the results of the others',
    'requeue consent': 'Keeps the token that a group gives for its jobs to be retried',
    'notes consent': 'Keeps the token that a group gives for notes in its merge requests',
  }),
  ...rows(() => import('./limits/views.ts'), {
    'limits show':
      'Shows the live set of limits: author, time and reason; with --document the limits themselves',
    'limits check': 'Checks the live limits against the policy here, before it is deployed',
    'limits publish': 'Makes a limits document live, whole or not at all, without a deploy',
  }),
  ...rows(() => import('./tables/instances.ts'), {
    'directory show': 'Shows the groups and projects that Tollgate knows, and the groups above one',
    'directory sync': 'Reads the groups and projects of GitLab now, without waiting for the schedule',
    'instance ls': 'Lists the GitLab instances in this table',
    'instance add': 'Registers a second GitLab in a table that has the ledger of another one',
    'instance forget': 'Removes a GitLab that was added by mistake',
  }),
  ...rows(() => import('./policy/validate-command.ts'), {
    'policy validate': 'Checks policy, limits and directory, and that they let the platform team deploy',
  }),
  ...rows(() => import('./policy/diff-command.ts'), {
    'policy diff': 'Compares two policies and shows which changes tighten or loosen',
  }),
  ...rows(() => import('./policy/publish-command.ts'), {
    'policy publish': 'Makes policy, limits and directory the rules in force, without a deploy',
  }),
  ...rows(() => import('./policy/import-command.ts'), {
    'policy import': "Makes rules from a GitLab Runner's config.toml",
  }),
  ...rows(() => import('./policy/test-command.ts'), {
    'policy test': 'Checks that the policies decide as their fixtures expect',
  }),
  ...rows(() => import('./cost/cost-command.ts'), {
    cost: 'Estimates the cost of this deployment at AWS: every line, idle and per job',
  }),
  ...rows(() => import('./doctor/doctor-command.ts'), {
    doctor: 'Checks every part of a deployment, each with a remedy',
  }),
  ...rows(() => import('./gitlab/setup-command.ts'), {
    'gitlab setup':
      'Sets GitLab up for Tollgate: controller in dry run, scope, token, webhooks; safe to repeat',
    'gitlab status': 'Checks that GitLab is still set up for Tollgate, webhooks that fail included',
  }),
  ...rows(() => import('./gitlab/descriptors-command.ts'), {
    'gitlab descriptors': "Builds the file with the field numbers of your GitLab's version, for relays",
  }),
  ...rows(() => import('./gitlab/rotate-command.ts'), {
    'gitlab rotate-token':
      "Replaces the relays' token: makes one, waits until a relay uses it, revokes the old one",
    'gitlab rotate-webhook-key':
      'Replaces the key that webhooks sign with; both are valid until every webhook has the new one',
  }),
  ...rows(() => import('./gitlab/canary-command.ts'), {
    'gitlab canary':
      'Proves that GitLab obeys both answers: one job must run and one must fail, on a runner of its own',
  }),
  ...rows(() => import('./gitlab/teardown-command.ts'), {
    'gitlab teardown':
      'Removes what setup made: disables the controller, removes webhooks, token and controller',
  }),
  ...rows(() => import('./controller/controller-command.ts'), {
    'controller status': 'Shows whether GitLab obeys Tollgate now, and what arming would do',
    'controller enable': 'Arms Tollgate: from now on GitLab fails the jobs that are rejected',
    'controller dry-run': 'Disarms Tollgate: every job runs, and GitLab still asks',
    'controller disable': 'Disarms Tollgate: every job runs, and GitLab does not ask',
  }),
  ...rows(() => import('./init/init-command.ts'), {
    init: 'Drafts policy, limits and directory from your runners, groups and a month of jobs',
  }),
  ...rows(() => import('./fleet/ls-command.ts'), {
    'fleet ls':
      'Lists runners with registration, managers, versions, whether the job router reaches them, and what to change',
    'fleet migrate': 'Moves runners from registration tokens to authentication tokens, step by step',
  }),
  ...rows(() => import('./login.ts'), {
    open: 'Opens the console’s page of a group or job in the browser, or prints its address',
    login: 'Signs this terminal in to a console with GitLab, so that commands need no AWS keys',
    logout: 'Ends the session that tollgate login began, at the console and here',
  }),
  ...rows(async () => ({ commands: (await import('./completion.ts')).completionCommands(COMMANDS) }), {
    completion: 'Prints what bash, zsh or fish need to complete commands and flags',
  }),
  ...rows(async () => ({ commands: (await import('./mcp.ts')).mcpCommands(COMMANDS) }), {
    mcp: 'Serves the Model Context Protocol for editors and agents: can I afford this rerun?',
  }),
];
