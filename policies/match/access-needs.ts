import { joinedText } from '../text/plain-text.ts';
import type { Conditions } from './conditions.ts';
import type { Wildcard } from './wildcard.ts';

/** A longer list is no hint. */
const WORDS_MAX = 3;
const WORD_CHARACTERS_MAX = 60;

/**
 * What a job would need to meet the conditions, for the people who read its page: `protected refs and environment
 * production`. What they can choose themselves is told as the rule's author wrote it; groups, projects, users and jobs
 * of others are not named.
 */
export function needsOf(conditions: Conditions): string {
  const { groups, projects, users, refs, environments, sources, jobs } = conditions;
  const needs: string[] = [];
  if (groups !== undefined) needs.push('certain groups');
  if (projects !== undefined) needs.push('certain projects');
  if (users !== undefined) needs.push('certain users');
  if (conditions.protected !== undefined)
    needs.push(conditions.protected ? 'protected refs' : 'refs that are not protected');
  if (refs !== undefined) needs.push(`ref ${oneOf(patternsOf(refs))}`);
  if (environments !== undefined) needs.push(`environment ${oneOf(patternsOf(environments))}`);
  if (sources !== undefined) needs.push(`pipeline source ${oneOf([...sources])}`);
  if (jobs !== undefined) needs.push('certain jobs');
  return needs.join(' and ');
}

const patternsOf = (wildcards: readonly Wildcard[]): readonly string[] =>
  wildcards.map(({ pattern }) =>
    pattern.length > WORD_CHARACTERS_MAX ? `${pattern.slice(0, WORD_CHARACTERS_MAX)}…` : pattern,
  );

/** `a`, `a or b`, `a, b or c`, `a, b, c or others`. */
function oneOf(words: readonly string[]): string {
  const told = words.length > WORDS_MAX ? [...words.slice(0, WORDS_MAX), 'others'] : words;
  return joinedText(told, 'or');
}
