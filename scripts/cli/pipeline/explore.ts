/** One way it may be, as far as it was asked about. Answers do not change while one way is looked at. */
export interface World {
  /** Answers so far. */
  readonly answers: ReadonlyMap<string, boolean>;
  /** Answers an undecidable condition. Its text is its identity. */
  holds(condition: string): boolean;
  /** A variable's value in this world, if an assumed condition sets it. */
  valueOf(variable: string): string | undefined;
  /** Says what follows from a condition that holds. */
  assume(variable: string, value: string): void;
}

export interface WorldOutcome<T> {
  readonly value: T;
  /** Assumed conditions on the way to it. */
  readonly assumed: ReadonlyMap<string, boolean>;
}

export interface Exploration<T> {
  /** At least one; the first is where every condition holds that was asked about. */
  readonly outcomes: readonly WorldOutcome<T>[];
  /** There are more ways than were looked at. */
  readonly isCut: boolean;
}

/**
 * Looks at each way that the unknown conditions leave open. Only what `visit` asks about branches, so that ten
 * conditions behind a rule that never matches cost nothing.
 *
 * @param visit - asks the same questions whenever it gets the same answers.
 * @param around - a world in which all of this happens: what it has settled is settled here.
 */
export function explore<T>(visit: (world: World) => T, max: number, around?: World): Exploration<T> {
  const outcomes: WorldOutcome<T>[] = [];
  let script: readonly boolean[] | undefined = [];
  while (script !== undefined && outcomes.length < max) {
    const world = worldOf(script, around);
    const value = visit(world);
    outcomes.push({ value, assumed: world.answers });
    script = nextScript([...world.answers.values()]);
  }
  return { outcomes, isCut: script !== undefined };
}

function worldOf(script: readonly boolean[], around: World | undefined): World {
  const answers = new Map<string, boolean>();
  const values = new Map<string, string>();
  return {
    answers,
    holds(condition) {
      const settled = around?.answers.get(condition) ?? answers.get(condition);
      if (settled !== undefined) return settled;
      const answer = script[answers.size] ?? true;
      answers.set(condition, answer);
      return answer;
    },
    valueOf: (variable) => values.get(variable) ?? around?.valueOf(variable),
    assume(variable, value) {
      values.set(variable, value);
    },
  };
}

/** The next branch, depth first: the last `true` becomes `false`. */
function nextScript(answers: readonly boolean[]): readonly boolean[] | undefined {
  const last = answers.lastIndexOf(true);
  return last === -1 ? undefined : [...answers.slice(0, last), false];
}
