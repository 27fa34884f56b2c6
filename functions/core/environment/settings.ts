/** A program's settings, as its environment has them. Every mistake in them is told at once. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One problem for each of these that is not set; what is wrong with others can be added. */
export const unset = (env: Environment, names: readonly string[]): string[] =>
  names.flatMap((name) => (env[name] ? [] : [`${name} is not set`]));

/** @throws {Error} `[config_invalid]` with all of them, if there are any. */
export function refuseInvalid(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`[config_invalid] ${problems.join('; ')}`);
}
