import type { Mode } from '../../../policies/mode.ts';
import { needsText } from '../evaluation/missing-fields.ts';
import { codedReasonText } from '../evaluation/rule-text.ts';
import { conditionsText } from './conditions-text.ts';
import type { JobCheck } from './job-check.ts';

/** One thing several jobs have in common. */
export interface PipelineFinding {
  readonly rule: string;
  readonly mode: Mode;
  /** Begins with the code, where there is one. */
  readonly text: string;
  /** The rule's message. */
  readonly message?: string;
  readonly jobs: readonly JobCheck[];
  /** It is about all jobs of the pipeline. */
  readonly everyJob: boolean;
}

/** A finding of one job. `message` is for those that reject. */
type Told = Omit<PipelineFinding, 'jobs' | 'everyJob'>;

/** Like findings of different jobs as one, in the order they are met. */
export function rejecting(checks: readonly JobCheck[], currency: string): readonly PipelineFinding[] {
  return grouped(checks, ({ rejects, results }) =>
    rejects.map(({ rule, mode, reason }) => {
      const message = results.find(({ id }) => id === rule)?.message;
      return {
        rule,
        mode,
        text: codedReasonText(reason, currency),
        ...(message !== undefined && { message }),
      };
    }),
  );
}

export function watching(checks: readonly JobCheck[], currency: string): readonly PipelineFinding[] {
  return grouped(checks, ({ watched }) =>
    watched.map(({ rule, mode, reason }) => ({ rule, mode, text: codedReasonText(reason, currency) })),
  );
}

export function untelling(checks: readonly JobCheck[], currency: string): readonly PipelineFinding[] {
  return grouped(checks, ({ untold }) =>
    untold.map(({ rule, mode, needs, against, dependsOn }) => {
      const what = against.map(({ reason }) => codedReasonText(reason, currency)).join('; ');
      if (dependsOn !== undefined)
        return { rule, mode, text: `${what}, depends on ${formsText(dependsOn, needs)}` };
      return {
        rule,
        mode,
        text: what === '' ? needsText(needs) : `${what}, unless an exception holds: ${needsText(needs)}`,
      };
    }),
  );
}

/** Conditions that select a job's form: of its rules, and variables in its tags. */
const formsText = (conditions: readonly string[], tags: readonly string[]): string =>
  [
    ...(conditions.length === 0 ? [] : [`rules: ${conditionsText(conditions)}`]),
    ...(tags.length === 0 ? [] : [`its tags: ${needsText(tags)}`]),
  ].join(', and on ');

function grouped(
  checks: readonly JobCheck[],
  findingsOf: (check: JobCheck) => readonly Told[],
): readonly PipelineFinding[] {
  const byText = new Map<string, { readonly finding: Told; readonly jobs: JobCheck[] }>();
  for (const check of checks) {
    for (const finding of findingsOf(check)) {
      const key = JSON.stringify([finding.rule, finding.mode, finding.text]);
      const present = byText.get(key);
      if (present === undefined) byText.set(key, { finding, jobs: [check] });
      else present.jobs.push(check);
    }
  }
  return [...byText.values()].map(({ finding, jobs }) => ({
    ...finding,
    jobs,
    everyJob: jobs.length === checks.length,
  }));
}
