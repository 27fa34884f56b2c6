/** A document while it is being edited: entries are replaced, nothing of the live one is touched. */

import { type DocumentPath, type DocumentProblem, isRecord } from '../../../policies/document/reading.ts';
import { LIMIT_KINDS } from '../../../policies/unit.ts';
import type { LimitRequest, Person } from './edit-model.ts';
import type { LimitsDocument } from './limit-set.ts';

export type Entry = Readonly<Record<string, unknown>>;

export interface EditContext extends Person {
  readonly nowMs: number;
  /** The written timestamp. @default nowMs */
  readonly writtenAtMs?: number;
  readonly newId: () => string;
  /** IANA zone of the days of freezes and break-glasses. @default UTC */
  readonly zone?: string;
  /** Returns true if a subject is below a group or project. @default never */
  readonly reaches?: (above: string, subject: string) => boolean;
  /** A request that was approved. `edits`: the time of the request, and the fingerprint of their result. */
  readonly asked?: Pick<LimitRequest, 'id' | 'requestedBy' | 'requestedByUser'> & {
    readonly edits?: { readonly atMs: number; readonly fingerprint: string };
  };
}

export class LimitsDraft {
  readonly context: EditContext;
  readonly problems: DocumentProblem[] = [];
  #rest: LimitsDocument;
  readonly #lists = new Map<string, Entry[]>();
  /** The last edit of each entry; problems are reported at that edit. */
  readonly #editOf = new Map<Entry, number>();
  #edit = 0;

  constructor(document: LimitsDocument, context: EditContext) {
    this.#rest = document;
    this.context = context;
  }

  begin(edit: number): void {
    this.#edit = edit;
  }

  replace(document: LimitsDocument): undefined {
    this.#rest = document;
    this.#lists.clear();
    this.#editOf.clear();
  }

  refuse(field: string, message: string): undefined {
    this.problems.push({ path: ['edits', this.#edit, field], message });
  }

  list(name: string): readonly Entry[] {
    return this.#listOf(name);
  }

  add(name: string, entry: Entry): undefined {
    this.#listOf(name).push(entry);
    this.#editOf.set(entry, this.#edit);
  }

  put(name: string, entry: Entry, next: Entry | undefined): undefined {
    const list = this.#listOf(name);
    list.splice(list.indexOf(entry), 1, ...(next === undefined ? [] : [next]));
    if (next !== undefined) this.#editOf.set(next, this.#edit);
  }

  get document(): LimitsDocument {
    const edited = [...this.#lists].filter(
      ([name, all]) => all.length > 0 || Object.hasOwn(this.#rest, name),
    );
    return { ...this.#rest, ...Object.fromEntries(edited) };
  }

  told(problem: DocumentProblem): DocumentProblem {
    const [name, index, ...field] = problem.path;
    if (typeof name !== 'string' || typeof index !== 'number') return problem;
    const entry = this.#lists.get(name)?.[index];
    const edit = entry && this.#editOf.get(entry);
    return edit === undefined ? problem : { ...problem, path: ['edits', edit, ...toldField(field)] };
  }

  #listOf(name: string): Entry[] {
    const value = this.#rest[name];
    const list = this.#lists.get(name) ?? (Array.isArray(value) ? value.filter(isRecord) : []);
    this.#lists.set(name, list);
    return list;
  }
}

const KINDS: readonly unknown[] = LIMIT_KINDS;

/** Edits call the number `amount` for any unit. */
const toldField = ([first, ...rest]: DocumentPath): DocumentPath =>
  first === undefined ? [] : [KINDS.includes(first) ? 'amount' : first === 'on' ? 'subject' : first, ...rest];
