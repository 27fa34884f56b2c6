import { evaluate } from '../../policies/evaluate.ts';
import { benchRequest, benchRules, place } from './bench-rules.ts';
import { type Figure, ratioOfRounds } from './figure.ts';
import { benchQuestion } from './router-process.ts';

const ROUNDS = 7;
const CALLS = 20_000;
/** Long enough that a pause of the machine does not decide a round. */
const RULES_A_ROUND = 400_000;

/** Time per call of one round, in ms for all calls. */
function timed(run: () => unknown): () => Promise<number> {
  return async () => {
    const startedMs = performance.now();
    for (let call = 0; call < CALLS; call += 1) run();
    return performance.now() - startedMs;
  };
}

/** `count` rules that all match the bench's job: a budget and a concurrency rule, and image rules. */
function rulesOf(count: number): () => unknown {
  const images = Array.from({ length: count - 2 }, (_, index) => ({
    id: `image-${index}`,
    kind: 'image',
    mode: 'enforce',
    match: { groups: [place(0).root] },
    allow: ['registry.example.com/acme/**/*:*', `registry.example.com/team-${index}/*:*`],
  }));
  const using = { ...benchRules(1, images), nowMs: Date.UTC(2026, 10, 21) };
  const request = benchRequest(1, 0);
  return () => evaluate(request, using);
}

/** Evaluation against JSON.parse of the same question, and what each further rule adds. */
export async function policyFigures(): Promise<readonly Figure[]> {
  const question = JSON.stringify(benchQuestion(1));
  const parse = timed(() => JSON.parse(question));
  const [ten, hundred, thousand] = [rulesOf(10), rulesOf(100), rulesOf(1000)];
  for (const warm of [ten, hundred, thousand]) for (let call = 0; call < 300; call += 1) warm();

  const toParse = await ratioOfRounds(ROUNDS, timed(ten), parse);
  const perRule = (run: () => unknown, rules: number): (() => Promise<number>) => {
    const calls = Math.ceil(RULES_A_ROUND / rules);
    return async () => {
      const startedMs = performance.now();
      for (let call = 0; call < calls; call += 1) run();
      return (performance.now() - startedMs) / (calls * rules);
    };
  };
  // Linear means that a rule among a thousand costs what a rule among a hundred does.
  const growth = await ratioOfRounds(ROUNDS, perRule(thousand, 1000), perRule(hundred, 100));
  return [
    {
      name: 'policy evaluation with 10 matching rules ÷ JSON.parse of the question',
      value: toParse.median,
      must: { atMost: 2 },
      unit: '×',
      kind: 'ratio',
      range: toParse.range,
      noisy: toParse.noisy,
    },
    {
      name: 'time per rule, 1000 rules ÷ 100 rules (1 is linear)',
      value: growth.median,
      must: { atMost: 1.5 },
      unit: '×',
      kind: 'ratio',
      range: growth.range,
      noisy: growth.noisy,
    },
  ];
}
