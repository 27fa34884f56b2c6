import { HIDDEN_VALUE, overwriteVariable } from '../../policies/kubernetes/overwrite-variables.ts';
import { TEXT_LENGTH_MAX } from './text-length.ts';
import { type Fate, isResourceVariable } from './variable-allowlist.ts';

/** More survivors than any policy reads; a flood of allowed names must not make a request large. */
export const VARIABLES_KEPT_MAX = 128;
/** More labels, tolerations or annotations than a job sets by hand; each kind counts for itself. */
export const OVERWRITES_KEPT_MAX = 32;

/** Whether the Kubernetes executor acts on a variable of this name. */
export const isActedOn = (name: string): boolean =>
  overwriteVariable(name) !== undefined || isResourceVariable(name);

/**
 * The survivors of one job's variables. The runner lets the last one of a name win, so a later one that may not be read
 * also takes away the earlier. What the executor acts on is kept apart: no flood of others pushes it out, and where its
 * value cannot be told, that it is set still is.
 */
export class KeptVariables {
  readonly #kept = new Map<string, string>();
  /** Bounded, too: the names are few, and behind each prefix they are counted. */
  readonly #actedOn = new Map<string, string>();
  readonly #countOf = new Map<string, number>();
  /** Prefixes of which more came than are kept: what else comes behind them changes nothing. */
  readonly #overfull = new Set<string>();

  put(name: string, value: unknown, fate: Fate): void {
    const short = typeof value === 'string' && value.length <= TEXT_LENGTH_MAX;
    const overwrite = overwriteVariable(name);
    if (fate !== 'drop' && (overwrite !== undefined || isResourceVariable(name))) {
      const shown = short && (fate === 'keep' || value === '') ? value : HIDDEN_VALUE;
      if (overwrite?.isPrefix === true) this.#putPrefixed(overwrite.name, name, shown);
      else this.#actedOn.set(name, shown);
    } else if (fate !== 'keep' || !short) {
      this.#kept.delete(name);
    } else if (this.#kept.size < VARIABLES_KEPT_MAX || this.#kept.has(name)) {
      this.#kept.set(name, value);
    }
  }

  forget(name: string): void {
    this.#kept.delete(name);
  }

  all(): ReadonlyMap<string, string> {
    return new Map([...this.#kept, ...this.#actedOn]);
  }

  #putPrefixed(prefix: string, name: string, value: string): void {
    if (this.#overfull.has(prefix)) return;
    const count = this.#countOf.get(prefix) ?? 0;
    const entry = this.#entryFor(name, value, count);
    if (this.#actedOn.has(entry)) return;
    if (count >= OVERWRITES_KEPT_MAX) {
      // One entry for all that are not looked at: rules must not take them to be allowed.
      this.#actedOn.set(`${prefix}…`, HIDDEN_VALUE);
      this.#overfull.add(prefix);
      return;
    }
    this.#actedOn.set(entry, value);
    this.#countOf.set(prefix, count + 1);
  }

  /** The runner takes every value of such a variable that comes twice, so each is an entry: `NAME`, `NAME (2)`. */
  #entryFor(name: string, value: string, count: number): string {
    let entry = name;
    for (let copy = 2; copy <= count + 1; copy += 1) {
      const there = this.#actedOn.get(entry);
      if (there === undefined || there === value) return entry;
      entry = `${name} (${copy})`;
    }
    return entry;
  }
}
