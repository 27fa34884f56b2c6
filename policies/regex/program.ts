import type { CodePoints } from './code-points.ts';
import type { Expression, Position } from './expression.ts';

/**
 * A pattern as a list of instructions. A walk stands at some of them at once; `next`, `other` and `to` are indexes.
 *
 * @see https://swtch.com/~rsc/regexp/regexp2.html (Thompson's construction, walked in Pike's way)
 */
export type Program = readonly Instruction[];

export type Instruction =
  | { readonly do: 'take'; readonly among: CodePoints }
  | { readonly do: 'stand'; readonly at: Position }
  /** Goes on at both. */
  | { readonly do: 'fork'; readonly to: number; readonly other: number }
  | { readonly do: 'jump'; readonly to: number }
  | { readonly do: 'match' };

/** With the longest text it bounds one match to a million steps; `[a-z]{1,63}` takes 125. */
export const INSTRUCTIONS_MAX = 1_000;

/** How many instructions it comes to; told before any is made, because `((a{1000}){1000}){1000}` is short to write. */
export function sizeOf(expression: Expression): number {
  switch (expression.kind) {
    case 'nothing':
    case 'character':
    case 'position':
      return 1;
    case 'sequence':
      return sum(expression.parts);
    case 'either':
      return sum(expression.parts) + 2 * expression.parts.length;
    case 'repeat': {
      const copies = expression.max ?? expression.min + 1;
      return sizeOf(expression.part) * Math.max(copies, 1) + copies + 2;
    }
  }
}

const sum = (parts: readonly Expression[]): number => parts.reduce((total, part) => total + sizeOf(part), 0);

/** Only for an expression whose `sizeOf` is small enough. */
export function programOf(expression: Expression): Program {
  const program: Instruction[] = [];
  emit(expression, program);
  program.push({ do: 'match' });
  return program;
}

function emit(expression: Expression, program: Instruction[]): void {
  switch (expression.kind) {
    case 'nothing':
      return;
    case 'character':
      program.push({ do: 'take', among: expression.among });
      return;
    case 'position':
      program.push({ do: 'stand', at: expression.at });
      return;
    case 'sequence':
      for (const part of expression.parts) emit(part, program);
      return;
    case 'either':
      emitEither(expression.parts, program);
      return;
    case 'repeat':
      emitRepeat(expression.part, expression.min, expression.max, program);
  }
}

function emitEither(parts: readonly Expression[], program: Instruction[]): void {
  const jumps: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1) {
      emit(part, program);
      continue;
    }
    const fork = reserve(program);
    emit(part, program);
    jumps.push(reserve(program));
    program[fork] = { do: 'fork', to: fork + 1, other: program.length };
  }
  for (const jump of jumps) program[jump] = { do: 'jump', to: program.length };
}

function emitRepeat(part: Expression, min: number, max: number | undefined, program: Instruction[]): void {
  for (let copy = 0; copy < min; copy += 1) emit(part, program);
  if (max === undefined) {
    const fork = reserve(program);
    emit(part, program);
    program.push({ do: 'jump', to: fork });
    program[fork] = { do: 'fork', to: fork + 1, other: program.length };
    return;
  }
  const forks: number[] = [];
  for (let copy = min; copy < max; copy += 1) {
    forks.push(reserve(program));
    emit(part, program);
  }
  for (const fork of forks) program[fork] = { do: 'fork', to: fork + 1, other: program.length };
}

/** Keeps a place for an instruction whose targets are not known yet. */
function reserve(program: Instruction[]): number {
  program.push({ do: 'jump', to: 0 });
  return program.length - 1;
}
