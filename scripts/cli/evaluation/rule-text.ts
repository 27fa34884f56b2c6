import { ruleNowWith } from '../../../functions/answers/job/decision-lines.ts';
import type { DisclosedViolation, RuleNowRow } from '../../../functions/answers/job/model.ts';
import type { RuleResult } from '../../../functions/answers/job/rule-results.ts';
import type { LimitClaim } from '../../../policies/claim.ts';
import type { Reason } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { reasonLine } from '../../../policies/text/reason-texts.ts';
import { amountText, bareAmountText } from '../../../policies/unit-texts.ts';
import { variableOfField } from '../../../policies/variables/compared-value.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Paint, printable, table } from '../../terminal/table.ts';

export const codedReasonText = (reason: Reason, currency: string): string =>
  `[${reason.code}] ${reasonLine(reason, currency)}`;

export function ruleTable(rows: readonly RuleNowRow[], columns: number, paint: Paint): string {
  const cells = rows.flatMap(({ id, kind, mode, now }) =>
    ruleNowLines(now).map((line, at) => [...(at === 0 ? [id, kind, mode] : ['', '', '']), printable(line)]),
  );
  return table(['rule', 'kind', 'mode', 'against the job'], cells, columns, paint.strong);
}

/** A rule's result without what an exemption lets pass. */
export function ruleRow(result: RuleResult, currency: string): RuleNowRow {
  const { id, kind, mode } = result;
  const against = result.violations
    .filter(({ exempt }) => exempt !== true)
    .map(({ mode: own, reason }) => ({ mode: own, code: reason.code, text: reasonLine(reason, currency) }));
  return { id, kind, mode, now: ruleNowWith(result, against) };
}

export function ruleNowLines({ outcome, detail = '', violations }: RuleNowRow['now']): readonly string[] {
  if (violations.length > 0) return violations.map(violationLine);
  switch (outcome) {
    case 'off':
      return ['off'];
    case 'not matched':
      return [`does not match: ${detail.replace(': ', ' is ')}`];
    case 'matched':
      return ['nothing'];
    case 'missing':
      return [`unknown: ${needsText(detail.split(', '))}`];
    case 'exempt':
      return [`exempt: ${detail}`];
    case 'failed':
      return [`failed: ${detail}`];
  }
}

/** `[IMAGE_NOT_ALLOWED] image "node:24" matches no allowed pattern (warn)`. */
export const violationLine = ({ mode, code, text }: DisclosedViolation): string =>
  `[${code}] ${text}${mode === 'enforce' ? '' : ` (${mode})`}`;

const FLAGS: Readonly<Record<string, string>> = {
  projectId: '--project',
  projectPath: '--project',
  namespaceId: '--project or --group',
  ref: '--ref',
  refProtected: '--protected or --unprotected',
  pipelineSource: '--source',
  userId: '--user',
  timeoutSeconds: '--timeout',
};

/** Fields a pipeline's file decides: where it says nothing there is nothing, and `on_missing` counts. */
const IN_THE_FILE: ReadonlySet<string> = new Set<keyof AdmissionRequest>([
  'jobName',
  'jobStage',
  'environment',
  'image',
  'pullPolicies',
  'dockerUser',
  'kubernetesUser',
  'services',
  'jobTags',
]);

export const isSentByGitLab = (field: string): boolean => !IN_THE_FILE.has(field.replace(/[.[].*$/, ''));

export const needsText = (fields: readonly string[]): string => `needs ${fields.map(fieldText).join(', ')}`;

function fieldText(field: string): string {
  const variable = variableOfField(field);
  if (variable !== undefined) return `variable ${variable}`;
  return FLAGS[field] === undefined ? field : `${field} (${FLAGS[field]})`;
}

export type LimitAsk = ReturnType<typeof limitAskOf>;

export function limitAskOf(claim: LimitClaim) {
  const { rule, counter, mode, unit, amount: asked, bound } = claim;
  // Only a claim's refusal knows its limit by name; an empty counter's has the same facts.
  const facts = claim.refusal({ committed: 0, settled: 0 });
  const { limit, subject } = counter;
  const subjectLabel = 'subjectLabel' in facts ? facts.subjectLabel : subject;
  /** `November 2026`; absent for what is given back when the job ends. */
  const periodLabel = 'periodLabel' in facts ? facts.periodLabel : undefined;
  return {
    ...{ rule, limit, subject, subjectLabel, counter, mode, unit, asked },
    // Without a bound it takes its amount without asking (exempt).
    ...withoutAbsent({ bound, periodLabel }),
  };
}

/** `0.24 of 7.50 EUR for November 2026`; without a bound only the amount. */
export function askText(ask: LimitAsk, currency: string): string {
  if (ask.bound === undefined) return `${amountText(ask.asked, ask.unit, currency, 'up')}, without asking`;
  const asked = bareAmountText(ask.asked, ask.unit, 'up');
  const during = ask.periodLabel === undefined ? ' at once' : ` for ${ask.periodLabel}`;
  return `${asked} of ${amountText(ask.bound, ask.unit, currency)}${during}`;
}
