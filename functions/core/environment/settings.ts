import { ENV_CONTROLLER_ID } from '../../names.ts';
/** A program's settings, as its environment has them. Every mistake in them is told at once. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One problem for each of these that is not set; what is wrong with others can be added. */
export const unset = (env: Environment, names: readonly string[]): string[] =>
  names.flatMap((name) => (env[name] ? [] : [`${name} is not set`]));

/** @throws {Error} `[config_invalid]` with all of them, if there are any. */
export function refuseInvalid(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`[config_invalid] ${problems.join('; ')}`);
}

/** Number of the runner controller; undefined: nobody set one. A wrong one is added to `problems`. */
export function controllerIdIn(env: Environment, problems: string[]): number | undefined {
  const text = env[ENV_CONTROLLER_ID];
  if (!text) return undefined;
  const id = Number(text);
  if (Number.isSafeInteger(id) && id > 0) return id;
  problems.push(`${ENV_CONTROLLER_ID} is "${text}"; expected the number GitLab shows for it`);
  return undefined;
}
