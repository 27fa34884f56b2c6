import { isKnownImage } from '../../../../policies/images/image-judge.ts';
import { compileWildcard } from '../../../../policies/match/wildcard.ts';
import type { ImportNote } from './imported-rule.ts';
import type { ConfigSetting } from './runner-config.ts';

/** A class that excludes every character: a list whose patterns match nothing refuses everything, an empty one nothing. */
const NOTHING = '[^\u0000-\u{10ffff}]';

interface ImportedPatterns {
  readonly allow: readonly string[];
  readonly notes: readonly ImportNote[];
}

/**
 * Converts a list of the Runner to `allow`: its patterns unchanged, because rules read them alike, and
 * always allowed images literally.
 *
 * @param internal - images of the Runner's own configuration, which also pass.
 */
export function importedPatterns(
  name: string,
  { line }: ConfigSetting,
  patterns: readonly string[],
  internal: readonly string[],
): ImportedPatterns {
  const notes: ImportNote[] = [];
  const kept = patterns.filter((pattern) => {
    const problem = problemOf(pattern);
    if (problem !== undefined)
      notes.push({ line, ...problem, text: `${name} has ${JSON.stringify(pattern)}, ${problem.text}` });
    return problem === undefined || problem.code === 'no_effect';
  });
  const literal = [...new Set(internal)].flatMap((image) => {
    if (isKnownImage(image)) return [escaped(image)];
    notes.push({
      code: 'rule_stricter',
      line,
      text: `the Runner's own image ${JSON.stringify(image)} is made of variables, so the rule cannot name it; add what it stands for if jobs write it out`,
    });
    return [];
  });
  const allow = [...new Set([...kept, ...literal])];
  return { allow: allow.length === 0 ? [NOTHING] : allow, notes };
}

function problemOf(pattern: string): Pick<ImportNote, 'code' | 'text'> | undefined {
  if (pattern === '')
    return { code: 'rule_stricter', text: 'which only an image without a name matches: it is left out' };
  if (!isKnownImage(pattern))
    return {
      code: 'rule_stricter',
      text: 'with a $: no variable is put into patterns, and no rule takes such a name; it is left out',
    };
  const compiled = compileWildcard(pattern);
  if (!compiled.ok)
    return {
      code: 'rule_stricter',
      text: `which ${compiled.problem}; it is left out. Where it is no pattern at all, the Runner takes it for one that matches nothing, and says nothing`,
    };
  if (pattern.startsWith('!'))
    return {
      code: 'no_effect',
      text: "which excludes nothing: the Runner's patterns know no exclusion and take the ! for a letter. A rule has deny for it",
    };
  return undefined;
}

const escaped = (image: string): string => image.replace(/[*?[\]{}\\]/g, String.raw`\$&`);
