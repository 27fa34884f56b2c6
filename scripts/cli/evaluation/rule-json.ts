import type { RuleResult } from '../../../functions/answers/job/rule-results.ts';

/** A rule's result for scripts, without the claims: those are told as what the job asks. */
export const ruleJson = ({ claims: _, ...result }: RuleResult): object => result;
