export type YamlMap = Readonly<Record<string, unknown>>;

/** GitLab's `!reference [job, key, …]`: stands for the value at that path of the whole configuration. */
export class Reference {
  readonly path: readonly string[];
  constructor(path: readonly string[]) {
    this.path = path;
  }
}

export const isMap = (value: unknown): value is YamlMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference);
