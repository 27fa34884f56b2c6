import type { RuleResult } from '../../../functions/answers/job/rule-results.ts';

/** A rule's result for scripts, without claims, which are listed with the job. */
export const ruleJson = ({ claims: _, ...result }: RuleResult): object => result;
