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
];
