import type { Command } from './command.ts';

/** A command before it is loaded: the list of commands must not wait for what only one of them needs. */
export interface CommandEntry {
  /** Words after `tollgate`. */
  readonly name: string;
  /** One line for the list of commands; the same as the command's own. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

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
    summary: 'What would have been rejected so far, counted twice: naively, and as it would really have been',
    load: async () => (await import('./report/shadow-command.ts')).shadowReportCommand,
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
    name: 'limits show',
    summary: 'Which limits are live? Who made them so, when and why; or the document itself',
    load: async () => (await import('./limits/show-command.ts')).showCommand,
  },
  {
    name: 'limits publish',
    summary: 'Makes a limits document live, whole or not at all, without a deploy',
    load: async () => (await import('./limits/publish-command.ts')).publishCommand,
  },
  {
    name: 'limits sets',
    summary: 'What was live before? The last sets of limits, newest first',
    load: async () => (await import('./limits/sets-command.ts')).setsCommand,
  },
  {
    name: 'limits check',
    summary: 'Do the live limits still fit the policy here? To be asked before it is deployed',
    load: async () => (await import('./limits/check-command.ts')).checkCommand,
  },
  {
    name: 'directory show',
    summary: 'Which groups and projects does Tollgate know, and which groups are above one?',
    load: async () => (await import('./directory/show-command.ts')).showCommand,
  },
  {
    name: 'directory sync',
    summary: 'Learns the groups and projects of GitLab now, without waiting for the schedule',
    load: async () => (await import('./directory/sync-command.ts')).syncCommand,
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
    name: 'controller status',
    summary: 'Does GitLab obey Tollgate now? The state of the runner controller',
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
];
