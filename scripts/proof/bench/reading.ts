import { compileReader } from '../../../relay/translate/question-reader.ts';
import { threadCpuMs } from '../../../relay/wire/reading-budget.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { questionEncoder } from '../../local/router/question.ts';
import { type Figure, median, ratioOfRounds, type Spread, spreadOf } from './figure.ts';
import { hostileQuestionBytes } from './hostile-questions.ts';
import { benchQuestion } from './router-process.ts';
import { compileTwoPasses } from './two-passes.ts';

const ROUNDS = 15;
const QUESTIONS = 1_000;
const OPTIONS = { variables: { names: ['COST_CENTER'], prefixes: ['TEAM_'] }, trustVariables: false };

/** From a question's bytes to our request, by CPU time of the thread that reads. */
export async function readingFigures(): Promise<readonly Figure[]> {
  const { question, source } = loadSchema();
  const onePass = compileReader({ question, source }, OPTIONS);
  const twoPasses = compileTwoPasses(question, OPTIONS);
  const typical = questionEncoder(question, true)(benchQuestion(1));
  const typicalMicros = (read: (bytes: Uint8Array) => unknown): number =>
    cpuMicros(() => {
      for (let asked = 0; asked < QUESTIONS; asked += 1) read(typical);
    }) / QUESTIONS;
  for (const read of [onePass, twoPasses]) typicalMicros(read);

  const own: number[] = [];
  const before: number[] = [];
  const noted = (read: (bytes: Uint8Array) => unknown, into: number[]): number => {
    const micros = typicalMicros(read);
    into.push(micros);
    return micros;
  };
  const replaced = await ratioOfRounds(
    ROUNDS,
    async () => noted(onePass, own),
    async () => noted(twoPasses, before),
  );

  const corpus = Object.entries(hostileQuestionBytes(question));
  for (const [, bytes] of corpus) onePass(bytes);
  const worst = Array.from({ length: ROUNDS }, () => worstOf(corpus, onePass));
  const worstRatio = spreadOf(worst.map(({ micros }, round) => micros / (own[round] ?? Number.NaN)));
  const told = worst.toSorted((a, b) => a.micros - b.micros)[Math.floor(ROUNDS / 2)];

  return [
    figure(
      'CPU of the worst legal 4 MiB question ÷ a typical one',
      1_000,
      worstRatio,
      `${((told?.micros ?? Number.NaN) / 1_000).toFixed(1)} ms, full of ${told?.full}; ${corpus.length} kinds of 4 MiB`,
    ),
    figure(
      'CPU per typical question, one pass ÷ the two passes it replaced',
      0.9,
      replaced,
      `${middle(own)} µs against ${middle(before)} µs for ${typical.length} bytes with 30 variables`,
    ),
  ];
}

interface Worst {
  readonly full: string;
  readonly micros: number;
}

/** Compares the least of three readings each: the garbage of one kind is not held against the next. */
const worstOf = (
  corpus: readonly (readonly [string, Uint8Array])[],
  read: (bytes: Uint8Array) => unknown,
): Worst =>
  corpus
    .map(([full, bytes]) => {
      const readings = [1, 2, 3].map(() => cpuMicros(() => read(bytes)));
      return { full, micros: Math.min(...readings) };
    })
    .reduce((worst, each) => (each.micros > worst.micros ? each : worst));

function cpuMicros(work: () => void): number {
  const startedMs = threadCpuMs();
  work();
  return (threadCpuMs() - startedMs) * 1_000;
}

const middle = (micros: readonly number[]): string => median(micros.toSorted((a, b) => a - b)).toFixed(1);

const figure = (
  name: string,
  atMost: number,
  { median: value, range, noisy }: Spread,
  note: string,
): Figure => ({ name, value, must: { atMost }, unit: '×', kind: 'ratio', range, noisy, note });
