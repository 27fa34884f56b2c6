export interface Step<Context> {
  readonly name: string;
  /** @returns what was seen. Throws where it is not as it should be, {@link NotPossibleError} where it cannot be tried here. */
  readonly run: (context: Context) => Promise<string>;
}

/** This machine or this clone lacks what the step needs; nothing is wrong. */
export class NotPossibleError extends Error {
  override readonly name = 'NotPossibleError';
}

/** One after the other; after a failure the rest would only repeat it. @returns true if none failed */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  say: (line: string) => void,
): Promise<boolean> {
  for (const { name, run } of steps) {
    const startedMs = performance.now();
    const [mark, detail] = await run(context).then(
      (seen) => ['✓', seen] as const,
      (error: unknown) => [
        error instanceof NotPossibleError ? '–' : '✗',
        error instanceof Error ? error.message : String(error),
      ],
    );
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    say(`${mark} ${name} (${seconds} s)\n    ${detail.split('\n').join('\n    ')}`);
    if (mark === '✗') return false;
  }
  return true;
}

/** @throws {Error} saying what was expected and what was there. */
export function expectEqual(what: string, seen: unknown, expected: unknown): void {
  const [seenText, expectedText] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (seenText !== expectedText) throw new Error(`${what} is ${seenText}; expected ${expectedText}`);
}
