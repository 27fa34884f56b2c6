import { inputFunction } from './input-functions.ts';
import type { InputValues } from './inputs.ts';
import type { KnownLookup } from './known-run.ts';
import { PipelineError } from './pipeline-error.ts';

/** GitLab's own bounds. */
const FUNCTIONS_MAX = 3;
const BLOCKS_MAX = 10_000;
/** Most characters of an expanded file. */
const CHARACTERS_MAX = 2_097_152;

const BLOCK = /\$\[\[[^\S\n]*(\S[^\n]{0,1000}?)[^\S\n]*\]\]/g;

/**
 * Puts inputs in the place of `$[[ inputs.name | function ]]`, in the text before it is read as YAML, as GitLab does: what
 * is not a text is put in as JSON. Blocks of a matrix stay.
 *
 * @throws {PipelineError} `refused` for a name that is no input, a function that is none, and a value it does not take; `not_told` for what only
 * GitLab has;
 * `too_large` for a text that grows past GitLab's size of a file.
 */
export function interpolate(text: string, inputs: InputValues, lookUp: KnownLookup, file: string): string {
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
    if (/^matrix\./.test(access)) return block;
    if (/^(?:component|job)\./.test(access))
      throw new PipelineError(
        'not_told',
        `${file}: ${block} is what only GitLab knows when it reads the file`,
      );
    const name = /^inputs\.([\w-]+)$/.exec(access)?.[1];
    if (name === undefined || !inputs.has(name))
      throw refused(`${block} is none of its inputs; expected ${[...inputs.keys()].join(', ') || 'none'}`);
    if (functions.length > FUNCTIONS_MAX) throw refused(`${block} has more than ${FUNCTIONS_MAX} functions`);
    const refuse = (what: string): never => {
      throw refused(`${block}: ${what}`);
    };
    return functions.reduce<unknown>(
      (value, call) => inputFunction(call, value, lookUp, refuse),
      inputs.get(name),
    );
  }

  function refused(what: string): PipelineError {
    return new PipelineError('refused', `${file}: ${what}; GitLab creates no pipeline from it`);
  }
}
