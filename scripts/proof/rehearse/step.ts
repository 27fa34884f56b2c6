export interface Step<Context> {
  readonly name: string;
  /** @returns what was seen. Throws where it is not as it should be. */
  readonly run: (context: Context) => Promise<string>;
}

/** One after the other; after a failure the rest would only repeat it. @returns true if none failed */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  say: (line: string) => void,
): Promise<boolean> {
  for (const { name, run } of steps) {
    const startedMs = performance.now();
    const tell = (mark: string, detail: string): void => {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      say(`${mark} ${name} (${seconds} s)\n    ${detail.split('\n').join('\n    ')}`);
    };
    try {
      tell('✓', await run(context));
    } catch (error) {
      tell('✗', error instanceof Error ? error.message : String(error));
      return false;
    }
  }
  return true;
}

export function expectEqual(what: string, seen: unknown, expected: unknown): void {
  const [seenText, expectedText] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (seenText !== expectedText) throw new Error(`${what} is ${seenText}; expected ${expectedText}`);
}
