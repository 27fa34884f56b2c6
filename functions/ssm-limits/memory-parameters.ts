/** Parameter Store in memory, for tests and local runs. */
import type { Editor, ParameterPage, Parameters, StoredParameter } from './parameters.ts';
import { SsmLimitsError, type SsmLimitsErrorCode } from './ssm-limits-error.ts';

/** As the service's. */
const PAGE = 10;

export class MemoryParameters implements Parameters {
  readonly #parameters = new Map<string, StoredParameter & { readonly editors: readonly string[] }>();
  readonly #fault: (call: 'page' | 'editorOf') => SsmLimitsErrorCode | undefined;
  /** How often each was asked. */
  readonly calls = { page: 0, editorOf: 0 };

  /** @param fault - asked once per call; the call then fails with it. */
  constructor(fault: (call: 'page' | 'editorOf') => SsmLimitsErrorCode | undefined = () => undefined) {
    this.#fault = fault;
  }

  put(name: string, value: string, by: { arn: string; atMs: number; type?: string }): void {
    const before = this.#parameters.get(name);
    this.#parameters.set(name, {
      name,
      value,
      type: by.type ?? 'String',
      version: (before?.version ?? 0) + 1,
      modifiedAtMs: by.atMs,
      editors: [...(before?.editors ?? []), by.arn],
    });
  }

  delete(name: string): void {
    this.#parameters.delete(name);
  }

  async page(path: string, token?: string): Promise<ParameterPage> {
    this.#meet('page');
    const below = [...this.#parameters.values()]
      .filter(({ name }) => name.startsWith(`${path}/`) && (token === undefined || name > token))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const parameters = below.slice(0, PAGE).map(({ editors: _, ...parameter }) => parameter);
    const last = parameters.at(-1);
    return { parameters, ...(below.length > PAGE && last !== undefined && { next: last.name }) };
  }

  async editorOf(name: string, version: number): Promise<Editor> {
    this.#meet('editorOf');
    const parameter = this.#parameters.get(name);
    if (parameter === undefined) return { found: 'no_parameter' };
    const arn = parameter.editors[version - 1];
    return arn === undefined ? { found: 'nobody' } : { found: 'editor', arn };
  }

  #meet(call: 'page' | 'editorOf'): void {
    this.calls[call] += 1;
    const code = this.#fault(call);
    if (code !== undefined) throw new SsmLimitsError(code, `${call}: injected fault`);
  }
}
