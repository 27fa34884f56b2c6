import type { DisclosedViolation, RuleNowRow } from '../../../functions/answers/job/model.ts';
import { needsText } from './missing-fields.ts';

/** A rule's current result, one line per violation. */
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
      return [`cannot tell: ${needsText(detail.split(', '))}`];
    case 'exempt':
      return [`exempt: ${detail}`];
    case 'failed':
      return [`failed: ${detail}`];
  }
}

/** `[IMAGE_NOT_ALLOWED] image "node:24" matches no allowed pattern (warn)`. */
export const violationLine = ({ mode, code, text }: DisclosedViolation): string =>
  `[${code}] ${text}${mode === 'enforce' ? '' : ` (${mode})`}`;
