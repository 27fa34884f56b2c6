import type { InputValues } from './inputs.ts';
import type { FindKnown } from './known-run.ts';
import { PipelineError } from './pipeline-error.ts';
import { knownValuesIn } from './rules.ts';
import { expandKnown } from './variables.ts';

/** GitLab's own bounds. */
const FUNCTIONS_MAX = 3;
const BLOCKS_MAX = 10_000;
/** What a file may come to. */
const CHARACTERS_MAX = 2_097_152;

const BLOCK = /\$\[\[[^\S\n]*(\S[^\n]{0,1000}?)[^\S\n]*\]\]/g;

/**
 * Puts inputs in the place of `$[[ inputs.name | function ]]`, in the text before it is read as YAML, as GitLab does: what
 * is not a text is put in as JSON. Blocks of a matrix stay.
 *
 * @throws {PipelineError} `refused` for a name that is no input, a function that is none, and a value it does not take;
 * `too_large` for a text that grows past GitLab's size of a file.
 */
export function interpolate(text: string, inputs: InputValues, lookUp: FindKnown, file: string): string {
  let blocks = 0;
  let characters = text.length;
  return text.replaceAll(BLOCK, (block: string, inside: string) => {
    blocks += 1;
    const value = blockValue(block, inside);
    const put = typeof value === 'string' ? value : JSON.stringify(value);
    characters += put.length - block.length;
    if (blocks > BLOCKS_MAX || characters > CHARACTERS_MAX)
      throw new PipelineError(
        'too_large',
        `${file}: its inputs make it longer than ${CHARACTERS_MAX} characters; GitLab reads no more`,
      );
    return put;
  });

  function blockValue(block: string, inside: string): unknown {
    const [access = '', ...functions] = inside.split('|').map((part) => part.trim());
    if (/^(?:matrix|component|job)\./.test(access)) return block;
    const name = /^inputs\.([\w-]+)$/.exec(access)?.[1];
    if (name === undefined || !inputs.has(name))
      throw refused(`${block} is none of its inputs; expected ${[...inputs.keys()].join(', ') || 'none'}`);
    if (functions.length > FUNCTIONS_MAX) throw refused(`${block} has more than ${FUNCTIONS_MAX} functions`);
    return functions.reduce<unknown>((value, each) => applied(each, value, block), inputs.get(name));
  }

  function applied(call: string, value: unknown, block: string): unknown {
    const [, name, args = ''] = /^(\w+)\s*(?:\((.*)\))?$/.exec(call) ?? [];
    if (typeof value !== 'string')
      throw refused(`${block}: ${call} takes a text, not ${JSON.stringify(value)}`);
    switch (name) {
      case 'expand_vars':
        return expandKnown(value, knownValuesIn(value, lookUp));
      case 'truncate': {
        const [from = Number.NaN, length = Number.NaN] = args.split(',').map(Number);
        if (Number.isNaN(from + length)) throw refused(`${block}: expected truncate(from, length)`);
        return value.slice(from, from + length);
      }
      case 'posix_escape':
        return value === '' ? "''" : value.replaceAll(/[^\w\-.,:+/@\n]/g, '\\$&').replaceAll('\n', "'\n'");
      case 'posix_quote':
        return `'${value.replaceAll("'", `'\\''`)}'`;
      default:
        throw refused(
          `${block}: "${call}" is no function; expected expand_vars, truncate, posix_escape, posix_quote`,
        );
    }
  }

  function refused(what: string): PipelineError {
    return new PipelineError('refused', `${file}: ${what}; GitLab creates no pipeline from it`);
  }
}
