import { explore, type World } from './explore.ts';
import { type Circumstances, flattenedRules, outcomeOf, type RulesOutcome, ruleHolds } from './rules.ts';
import { readPipelineVariables } from './variables.ts';
import { isMap } from './yaml-map.ts';

/** Possible results of a list of rules under undecidable conditions. */
interface PossibleOutcomes {
  /** Different from each other, the one of the first rule that can match before the others. At least one. */
  readonly outcomes: readonly RulesOutcome[];
  /** Conditions that were evaluated. */
  readonly conditions: readonly string[];
}

/** Ways looked at one by one, so that rules which exclude each other are seen to. */
const WAYS_MAX = 32;

/**
 * Returns all results of `rules:` in the surrounding world. For long lists each rule is judged alone, which
 * may add a result and never misses one.
 *
 * @param lets - an extra condition; if it fails, the result is `never`.
 */
export function possibleOutcomes(
  rules: unknown,
  place: string,
  about: Circumstances,
  lets: (about: Circumstances) => boolean = () => true,
): PossibleOutcomes {
  const within = (world: World): Circumstances => ({ ...about, world });
  const ways = explore(
    (world) => (lets(within(world)) ? outcomeOf(rules, place, within(world)) : NEVER),
    WAYS_MAX,
    about.world,
  );
  const conditions = conditionsOf(ways.outcomes);
  if (!ways.isCut) return { outcomes: distinct(ways.outcomes.map(({ value }) => value)), conditions };
  const asked = new Set(conditions);
  const outcomes: RulesOutcome[] = [];
  if (may(lets).includes(false)) outcomes.push(NEVER);
  let mayEnd = true;
  for (const rule of flattenedRules(rules)) {
    if (!mayEnd || !isMap(rule)) continue;
    const answers = may((within) => ruleHolds(rule, place, within));
    if (answers.includes(true))
      outcomes.push({ isNever: rule.when === 'never', variables: readPipelineVariables(rule.variables) });
    mayEnd = answers.includes(false);
  }
  if (mayEnd) outcomes.push(NEVER);
  return { outcomes: distinct(outcomes), conditions: [...asked] };

  function may(holds: (within: Circumstances) => boolean): readonly boolean[] {
    const { outcomes: found, isCut } = explore((world) => holds(within(world)), WAYS_MAX, about.world);
    for (const condition of conditionsOf(found)) asked.add(condition);
    return isCut ? [true, false] : found.map(({ value }) => value);
  }
}

const NEVER: RulesOutcome = { isNever: true, variables: {} };

const conditionsOf = (outcomes: readonly { readonly assumed: ReadonlyMap<string, boolean> }[]) => [
  ...new Set(outcomes.flatMap(({ assumed }) => [...assumed.keys()])),
];

/** Variables of a `never` rule do not matter. */
function distinct(outcomes: readonly RulesOutcome[]): readonly RulesOutcome[] {
  const byText = new Map<string, RulesOutcome>();
  for (const outcome of outcomes) {
    const text = outcome.isNever ? 'never' : JSON.stringify(outcome.variables);
    if (!byText.has(text)) byText.set(text, outcome);
  }
  return [...byText.values()];
}
