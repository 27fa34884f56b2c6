import { RE2JS } from 're2js';
import type { Automaton } from './automaton.ts';

/** One step of a compiled expression, as RE2 has them. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(code: number): boolean;
}

/** @see https://github.com/google/re2/blob/main/re2/prog.h */
const [ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, FAIL, MATCH, NOP] = [1, 2, 3, 4, 5, 6, 7];
const [RUNE, RUNE1, RUNE_ANY, RUNE_ANY_NOT_NL] = [8, 9, 10, 11];
const KNOWN: ReadonlySet<number | undefined> = new Set([
  ALT,
  ALT_MATCH,
  CAPTURE,
  EMPTY_WIDTH,
  FAIL,
  MATCH,
  NOP,
  RUNE,
  RUNE1,
  RUNE_ANY,
  RUNE_ANY_NOT_NL,
]);
const [BEGIN_TEXT, END_TEXT] = [4, 8];
const FOLD_CASE = 1;
const NEWLINE = 0x0a;
/** Far above the characters that have two cases. */
const CASED_MAX = 0x1ffff;

/** Before the match, and after it: any character is passed over. */
const SEARCHING = -1;
const MATCHED = -2;
/** Added to a step that waits for the end of the text at its very beginning. */
const AT_START = 1_000_000;

/**
 * Whatever texts the expression matches somewhere, by the program that its own library runs. `undefined`: it is invalid, or
 * has what depends on neighbouring characters (`\b`, `^` and `$` of lines).
 */
export function regexAutomaton(pattern: string): Automaton | undefined {
  const program = programOf(pattern);
  if (program === undefined) return undefined;
  const { steps, start } = program;
  const at = (index: number): Instruction | undefined => steps[index];

  /** The states from a step on without reading a character. */
  function closure(from: number, isStart: boolean, isEnd: boolean): ReadonlySet<number> {
    const states = new Set<number>();
    const seen = new Set<number>();
    const open = [from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const step = at(index);
      if (step === undefined || seen.has(index)) continue;
      seen.add(index);
      if (step.op === MATCH) states.add(MATCHED);
      else if (step.op === ALT || step.op === ALT_MATCH) open.push(step.out, step.arg);
      else if (step.op === CAPTURE || step.op === NOP) open.push(step.out);
      else if (step.op === EMPTY_WIDTH) {
        if ((step.arg & BEGIN_TEXT) !== 0 && !isStart) continue;
        if ((step.arg & END_TEXT) === 0 || isEnd) open.push(step.out);
        else states.add(isStart ? index + AT_START : index);
      } else if (step.op !== FAIL) states.add(index);
    }
    return states;
  }

  return {
    start: [SEARCHING, ...closure(start, true, false)],
    step(state, code) {
      if (state === MATCHED) return [MATCHED];
      if (state === SEARCHING) return [SEARCHING, ...closure(start, false, false)];
      const step = at(state);
      return step !== undefined && reads(step, code) ? [...closure(step.out, false, false)] : [];
    },
    accepts(state) {
      if (state < 0) return state === MATCHED;
      const isStart = state >= AT_START;
      const index = isStart ? state - AT_START : state;
      return at(index)?.op === EMPTY_WIDTH && closure(index, isStart, true).has(MATCHED);
    },
    cuts: new Set(steps.flatMap(cutsOf)),
  };
}

function programOf(
  pattern: string,
): { readonly steps: readonly Instruction[]; readonly start: number } | undefined {
  try {
    const { prog } = RE2JS.compile(pattern).re2Input;
    const steps: readonly Instruction[] = prog.inst;
    const isKnown = steps.every(
      ({ op, arg }) => KNOWN.has(op) && (op !== EMPTY_WIDTH || (arg & ~(BEGIN_TEXT | END_TEXT)) === 0),
    );
    return isKnown ? { steps, start: prog.start } : undefined;
  } catch {
    // An invalid pattern; the policy that has it is refused where it is read.
    return undefined;
  }
}

function reads(step: Instruction, code: number): boolean {
  switch (step.op) {
    case RUNE_ANY:
      return true;
    case RUNE_ANY_NOT_NL:
      return code !== NEWLINE;
    case RUNE:
    case RUNE1:
      return step.matchRune(code);
    default:
      return false;
  }
}

function cutsOf(step: Instruction): readonly number[] {
  if (step.op === RUNE_ANY_NOT_NL) return [NEWLINE, NEWLINE + 1];
  if (step.op !== RUNE && step.op !== RUNE1) return [];
  if (step.runes.length > 1)
    return Array.from(step.runes, (code, index) => (index % 2 === 0 ? code : code + 1));
  if ((step.arg & FOLD_CASE) === 0) return Array.from(step.runes).flatMap((code) => [code, code + 1]);
  const cuts: number[] = [];
  for (let code = 0; code <= CASED_MAX; code += 1) if (step.matchRune(code)) cuts.push(code, code + 1);
  return cuts;
}
