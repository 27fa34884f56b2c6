export interface StepResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'not_possible';
  /** The observation, or the reason. */
  readonly detail: string;
  readonly tookMs: number;
}

export interface Step<Context> {
  /** The proven behaviour. */
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

/** Limits of an emulator, printed with every rehearsal. */
export const NOT_REHEARSED: readonly string[] = [
  'change sets: the emulator confuses those of two stacks, so stacks are made directly (--method=direct)',
  'rights: the emulator checks no policy; that they are few and enough is tested on the templates',
  'functions in Lambda: they run here instead, with the deployed code and environment, called by hand',
  'Function URLs and their signatures: no request goes through one',
  'streams to functions: their events are handed over by hand; retries and dead letters are not exercised',
  'schedules and events of changed parameters: no rule fires, so what waits for one is called by hand',
  'the console behind its sign-in: there is no browser and no GitLab but its address; a test signs in with both',
  'the relay in Fargate: its bundle runs here with the environment of its task; no container starts, no image is pulled',
  'alarms and the dashboard: nothing is measured',
  'encryption, point-in-time recovery and the keys behind them: they are only written down',
];
