import type { RuleResult } from '../../../functions/answers/job/rule-results.ts';
import type { Reason } from '../../../policies/reason.ts';
import { reasonLine } from '../../../policies/text/reason-texts.ts';
import { askText, limitAskOf } from './limit-ask.ts';
import { needsText } from './missing-fields.ts';

type Tone = 'good' | 'bad' | 'warn' | 'dim';

/** One line about one rule. */
interface RuleText {
  readonly word: string;
  readonly tone: Tone;
  /** Why, or what it asks; one entry a line, at least one. */
  readonly why: readonly string[];
}

/** A rule's result for people. */
export function ruleTextOf(result: RuleResult, currency: string): RuleText {
  const { outcome } = result;
  switch (outcome.outcome) {
    case 'off':
      return { word: 'off', tone: 'dim', why: [''] };
    case 'not matched': {
      const value = outcome.value === undefined ? '' : ` (this job: ${outcome.value})`;
      return { word: 'not matched', tone: 'dim', why: [`${outcome.condition}${value}`] };
    }
    case 'exempt':
      return { word: 'exempt', tone: 'good', why: [outcome.reason, ...asks(result, currency)] };
    case 'failed':
      return { word: 'failed', tone: 'bad', why: [outcome.cause, ...against(result, currency)] };
    case 'missing':
    case 'matched': {
      const why = [...against(result, currency), ...asks(result, currency), ...lacks(result)];
      return { ...verdict(result), why: why.length === 0 ? ['nothing against it'] : why };
    }
  }
}

function verdict({ violations, missing, outcome }: RuleResult): Pick<RuleText, 'word' | 'tone'> {
  if (violations.some(({ mode }) => mode === 'enforce')) return { word: 'rejects', tone: 'bad' };
  const [watching] = violations;
  if (outcome.outcome === 'missing' || missing.length > 0) return { word: 'cannot tell', tone: 'warn' };
  return watching === undefined ? { word: 'ok', tone: 'good' } : { word: watching.mode, tone: 'warn' };
}

const against = ({ violations }: RuleResult, currency: string): readonly string[] =>
  violations.flatMap(({ reason }) =>
    reason.code === 'FIELD_MISSING' ? [] : [codedReasonText(reason, currency)],
  );

/** `[IMAGE_NOT_ALLOWED] image "node:24" matches no allowed pattern`. */
export const codedReasonText = (reason: Reason, currency: string): string =>
  `[${reason.code}] ${reasonLine(reason, currency)}`;

function asks({ claims, askedBy }: RuleResult, currency: string): readonly string[] {
  if (askedBy !== undefined) return [`rule ${askedBy} asks in its place`];
  // A claim that never fits is listed as a violation.
  return claims
    .filter(({ neverFits }) => !neverFits)
    .map((claim) => {
      const ask = limitAskOf(claim);
      return `${ask.limit} of ${ask.subjectLabel}: asks ${askText(ask, currency)}`;
    });
}

function lacks({ missing, unproven, onMissing }: RuleResult): readonly string[] {
  const lines: string[] = [];
  if (missing.length > 0) lines.push(`${needsText(missing)}; on_missing: ${onMissing}`);
  if (unproven.length > 0) lines.push(`unless an exception holds: that ${needsText(unproven)}`);
  return lines;
}
