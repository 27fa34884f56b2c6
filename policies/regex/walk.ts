import { isAmong, isWord } from './code-points.ts';
import type { Position } from './expression.ts';
import type { Program } from './program.ts';

export interface Walked {
  readonly matched: boolean;
  /** Instructions looked at: at most program × (characters + 1), whatever the pattern. */
  readonly steps: number;
}

/**
 * Whether the program matches somewhere in the text. All ways through the pattern are walked at once, each instruction
 * at most once per character, so there is nothing to go back to.
 */
export function walk(program: Program, text: string): Walked {
  const seenAt = new Int32Array(program.length).fill(-1);
  let steps = 0;
  let standing: number[] = [];
  let before: number | undefined;
  for (let at = 0; ; ) {
    const code = text.codePointAt(at);
    // A match may begin at every character: the runner searches, it does not compare the whole.
    const pending = [...standing, 0];
    const taking: number[] = [];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      const instruction = program[index];
      if (instruction === undefined || seenAt[index] === at) continue;
      seenAt[index] = at;
      steps += 1;
      switch (instruction.do) {
        case 'match':
          return { matched: true, steps };
        case 'take':
          if (code !== undefined && isAmong(instruction.among, code)) taking.push(index + 1);
          break;
        case 'stand':
          if (isThere(instruction.at, before, code)) pending.push(index + 1);
          break;
        case 'jump':
          pending.push(instruction.to);
          break;
        case 'fork':
          pending.push(instruction.other, instruction.to);
      }
    }
    if (code === undefined) return { matched: false, steps };
    standing = taking;
    before = code;
    at += code > 0xffff ? 2 : 1;
  }
}

function isThere(at: Position, before: number | undefined, after: number | undefined): boolean {
  switch (at) {
    case 'start':
      return before === undefined;
    case 'end':
      return after === undefined;
    case 'word-edge':
      return isWord(before) !== isWord(after);
    case 'no-word-edge':
      return isWord(before) === isWord(after);
  }
}
