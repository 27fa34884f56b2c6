import { RelayError } from '../relay-error.ts';

/** Reads settings from the environment and collects problems, so one failed start names them all. */
export class EnvReader {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #problems: string[] = [];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  /** Compose files and task definitions leave a variable out by an empty value. */
  optional(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === '' ? undefined : value;
  }

  required(name: string, example: string): string {
    const value = this.optional(name);
    if (value === undefined) this.problem(`${name} is not set; expected e.g. ${example}`);
    return value ?? '';
  }

  integer(
    name: string,
    bounds: { readonly min: number; readonly max: number; readonly fallback: number },
  ): number {
    const text = this.optional(name);
    if (text === undefined) return bounds.fallback;
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= bounds.min && value <= bounds.max) return value;
    this.problem(`${name} is "${text}"; expected a whole number from ${bounds.min} to ${bounds.max}`);
    return bounds.fallback;
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    const chosen = choices.find((choice) => choice === text);
    if (chosen === undefined) this.problem(`${name} is "${text}"; expected ${choices.join(' or ')}`);
    return chosen ?? fallback;
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  /** @throws {RelayError} `config_invalid` listing every problem found so far. */
  throwIfAnyProblem(): void {
    if (this.#problems.length > 0) throw new RelayError('config_invalid', this.#problems.join('; '));
  }
}
