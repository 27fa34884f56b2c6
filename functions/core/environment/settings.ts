import { ENV_CONTROLLER_ID } from '../../names.ts';
/** A program's settings from its environment. All mistakes are reported together. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One problem for each of these that is not set; what is wrong with others can be added. */
export const unset = (env: Environment, names: readonly string[]): string[] =>
  names.flatMap((name) => (env[name] ? [] : [`${name} is not set`]));

/** @throws {Error} `[config_invalid]` with all problems, if there are any. */
export function refuseInvalid(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`[config_invalid] ${problems.join('; ')}`);
}

/** Reads the runner controller's number; undefined: not set. A wrong one is added to `problems`. */
export function controllerIdIn(env: Environment, problems: string[]): number | undefined {
  const text = env[ENV_CONTROLLER_ID];
  if (!text) return undefined;
  const id = Number(text);
  if (Number.isSafeInteger(id) && id > 0) return id;
  problems.push(`${ENV_CONTROLLER_ID} is "${text}"; expected the number GitLab shows for it`);
  return undefined;
}
