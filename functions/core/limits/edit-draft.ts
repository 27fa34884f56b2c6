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
  /** IANA zone in which a day is meant that is written about a subject. @default UTC */
  readonly zoneOf?: (subject: string) => string;
  /** Returns true if a subject is below a group or project. @default never */
  readonly reaches?: (above: string, subject: string) => boolean;
  /** For a grant that was asked for: whose wish it was, and its id. */
  readonly asked?: Asked;
}

/** A request that was approved. */
interface Asked extends Pick<LimitRequest, 'id' | 'requestedBy' | 'requestedByUser'> {
  /** For requested edits: the time of the request, and the fingerprint of their result. */
  readonly edits?: { readonly atMs: number; readonly fingerprint: string };
}

/** One list of the document. An import has thousands of edits, so no edit looks through it. */
interface DraftList {
  /** Keyed by a number of its own, in the order of the list. */
  readonly entries: Map<number, Entry>;
  readonly numberOf: Map<Entry, number>;
  /** One per way of naming entries, made when first asked for. */
  readonly indexes: Map<NameOf, Map<string, Set<Entry>>>;
  next: number;
}

/**
 * Returns the lookup key of an entry; undefined: none. The function's identity names the index: keep one of
 * each.
 */
type NameOf = (entry: Entry) => string | undefined;

export class LimitsDraft {
  readonly context: EditContext;
  readonly problems: DocumentProblem[] = [];
  #rest: LimitsDocument;
  readonly #lists = new Map<string, DraftList>();
  /** The last edit of each entry; problems are reported at that edit. */
  readonly #editOf = new Map<Entry, number>();
  #edit = 0;

  constructor(document: LimitsDocument, context: EditContext) {
    this.#rest = document;
    this.context = context;
  }

  /** From now on it is this edit that edits. */
  begin(edit: number): void {
    this.#edit = edit;
  }

  replace(document: LimitsDocument): undefined {
    this.#rest = document;
    this.#lists.clear();
    this.#editOf.clear();
  }

  /** Reports a problem at a field of the current edit. */
  refuse(field: string, message: string): undefined {
    this.problems.push({ path: ['edits', this.#edit, field], message });
  }

  list(name: string): readonly Entry[] {
    return [...this.#listOf(name).entries.values()];
  }

  add(name: string, entry: Entry): undefined {
    const list = this.#listOf(name);
    list.entries.set(list.next, entry);
    list.numberOf.set(entry, list.next);
    list.next += 1;
    noteName(list, entry);
    this.#editOf.set(entry, this.#edit);
  }

  /** @param next - undefined: the entry goes. */
  put(name: string, entry: Entry, next: Entry | undefined): undefined {
    const list = this.#listOf(name);
    const number = list.numberOf.get(entry);
    if (number === undefined) return;
    list.numberOf.delete(entry);
    for (const [nameOf, index] of list.indexes) index.get(nameOf(entry) ?? '')?.delete(entry);
    if (next === undefined) {
      list.entries.delete(number);
      return;
    }
    list.entries.set(number, next);
    list.numberOf.set(next, number);
    noteName(list, next);
    this.#editOf.set(next, this.#edit);
  }

  /** The first entry of this name. */
  find(name: string, key: string, nameOf: NameOf): Entry | undefined {
    const [first] = this.#indexOf(name, nameOf).get(key) ?? [];
    return first;
  }

  /** All entries of this name. */
  findAll(name: string, key: string, nameOf: NameOf): readonly Entry[] {
    return [...(this.#indexOf(name, nameOf).get(key) ?? [])];
  }

  get document(): LimitsDocument {
    const document: Record<string, unknown> = { ...this.#rest };
    for (const [name, { entries }] of this.#lists) {
      if (entries.size > 0 || Object.hasOwn(this.#rest, name)) document[name] = [...entries.values()];
    }
    return document;
  }

  /** Maps a problem of the document to the edit that made it. */
  told(problem: DocumentProblem): DocumentProblem {
    const [name, index, ...field] = problem.path;
    if (typeof name !== 'string' || typeof index !== 'number' || !this.#lists.has(name)) return problem;
    const entry = this.list(name)[index];
    const edit = entry && this.#editOf.get(entry);
    return edit === undefined ? problem : { ...problem, path: ['edits', edit, ...toldField(field)] };
  }

  #indexOf(name: string, nameOf: NameOf): ReadonlyMap<string, ReadonlySet<Entry>> {
    const list = this.#listOf(name);
    const known = list.indexes.get(nameOf);
    if (known !== undefined) return known;
    const index = new Map<string, Set<Entry>>();
    for (const entry of list.entries.values()) put(index, nameOf(entry), entry);
    list.indexes.set(nameOf, index);
    return index;
  }

  #listOf(name: string): DraftList {
    const known = this.#lists.get(name);
    if (known !== undefined) return known;
    const value = this.#rest[name];
    const all = Array.isArray(value) ? value.filter(isRecord) : [];
    const list: DraftList = {
      entries: new Map(all.entries()),
      numberOf: new Map(all.map((entry, number) => [entry, number])),
      indexes: new Map(),
      next: all.length,
    };
    this.#lists.set(name, list);
    return list;
  }
}

function noteName({ indexes }: DraftList, entry: Entry): void {
  for (const [nameOf, index] of indexes) put(index, nameOf(entry), entry);
}

function put(index: Map<string, Set<Entry>>, name: string | undefined, entry: Entry): void {
  if (name === undefined) return;
  const there = index.get(name);
  if (there === undefined) index.set(name, new Set([entry]));
  else there.add(entry);
}

const KINDS: readonly unknown[] = LIMIT_KINDS;

/** Edits call the number `amount` for any unit. */
const toldField = ([first, ...rest]: DocumentPath): DocumentPath =>
  first === undefined ? [] : [KINDS.includes(first) ? 'amount' : first === 'on' ? 'subject' : first, ...rest];
