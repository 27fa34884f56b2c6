/** What one step of the rehearsal came to. */
export interface StepResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'not_possible';
  /** What was seen, or why not. */
  readonly detail: string;
  readonly tookMs: number;
}

export interface Step<Context> {
  /** What is proven when it passes. */
  readonly name: string;
  /** @returns what was seen. Throws where it is not as it should be, {@link NotPossibleError} where it cannot be tried here. */
  readonly run: (context: Context) => Promise<string>;
}

/** This machine or this clone lacks what the step needs; nothing is wrong. */
export class NotPossibleError extends Error {
  override readonly name = 'NotPossibleError';
}

/** One after the other; after a failure the rest would only repeat it. */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  { nowMs, onResult }: { readonly nowMs: () => number; readonly onResult: (result: StepResult) => void },
): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  for (const { name, run } of steps) {
    const startedMs = nowMs();
    const { outcome, detail } = await run(context).then(
      (seen) => ({ outcome: 'passed', detail: seen }) as const,
      (error: unknown) => ({
        outcome: error instanceof NotPossibleError ? ('not_possible' as const) : ('failed' as const),
        detail: error instanceof Error ? error.message : String(error),
      }),
    );
    const result: StepResult = { name, outcome, detail, tookMs: Math.round(nowMs() - startedMs) };
    results.push(result);
    onResult(result);
    if (outcome === 'failed') break;
  }
  return results;
}

/** @throws {Error} saying what was expected and what was there. */
export function expectEqual(what: string, seen: unknown, expected: unknown): void {
  const [seenText, expectedText] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (seenText !== expectedText) throw new Error(`${what} is ${seenText}; expected ${expectedText}`);
}
