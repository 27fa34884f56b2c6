/** Settings that stand among the arguments of the CDK command line: `-c relayImage=…`, `--context stage=prod`. */
export function contextIn(args: readonly string[]): Readonly<Record<string, string>> {
  const pairs = args.flatMap((arg, index) => {
    const [, joined] = /^(?:--context=|-c=?)(.+=.*)$/.exec(arg) ?? [];
    if (joined !== undefined) return [joined];
    return arg === '-c' || arg === '--context' ? [args[index + 1] ?? ''] : [];
  });
  return Object.fromEntries(
    pairs
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}
