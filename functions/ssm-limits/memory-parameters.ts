/** Parameter Store in memory, for tests and measurements. */
import type { Parameters, StoredParameter } from './parameters.ts';

export class MemoryParameters implements Parameters {
  readonly #parameters = new Map<string, StoredParameter>();

  put(name: string, value: string, by: { arn?: string; atMs: number; type?: string }): void {
    this.#parameters.set(name, {
      name,
      value,
      type: by.type ?? 'String',
      version: (this.#parameters.get(name)?.version ?? 0) + 1,
      modifiedAtMs: by.atMs,
      editor: by.arn,
    });
  }

  delete(name: string): void {
    this.#parameters.delete(name);
  }

  list = async (path: string): Promise<readonly StoredParameter[]> =>
    [...this.#parameters.values()].filter(({ name }) => name.startsWith(`${path}/`));

  read = async (name: string): Promise<StoredParameter | undefined> => this.#parameters.get(name);
}
