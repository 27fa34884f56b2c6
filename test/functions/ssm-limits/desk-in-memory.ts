/** A desk that edits as the real one does and asks nobody's rights, with a log of changes, and faults where a test wants them. */

import type { LimitsDesk } from '../../../functions/core/limits/desk/contract.ts';
import { editDocument } from '../../../functions/core/limits/desk/edit-document.ts';
import type { LogEntry } from '../../../functions/core/limits/desk/history.ts';
import type { LimitEdit } from '../../../functions/core/limits/desk/limit-edit.ts';
import type { LiveLimits } from '../../../functions/core/limits/desk/live-limits.ts';
import type { ApplyOutcome, ChangeRow, EditAuthor } from '../../../functions/core/limits/desk/outcome.ts';
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import { LimitsError } from '../../../functions/core/limits/limits-error.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';

export type DeskFault = 'lost-before' | 'lost-after' | 'needs_confirmation' | undefined;

export class DeskInMemory implements Pick<LimitsDesk, 'live' | 'apply' | 'history'> {
  readonly entries: LogEntry[] = [];
  /** Called before each edit from Parameter Store: what others do at that moment, and what goes wrong. */
  onApply: (edits: readonly LimitEdit[], by: EditAuthor) => DeskFault = () => undefined;
  #document: LimitsDocument;
  #edit = 1;
  readonly #policy: Policy;
  readonly #nowMs: () => number;

  constructor(document: LimitsDocument, policy: Policy, nowMs: () => number) {
    this.#document = document;
    this.#policy = policy;
    this.#nowMs = nowMs;
  }

  get document(): LimitsDocument {
    return this.#document;
  }

  limit(group: number, id: string): Limit | undefined {
    return this.#parsed(this.#document)
      .bySubject.get(`group/${group}`)
      ?.find((each) => each.id === id);
  }

  get inForce(): Pick<LiveLimits, 'document' | 'limits'> {
    return { document: this.#document, limits: this.#parsed(this.#document) };
  }

  async live(): Promise<LiveLimits> {
    return {
      pointer: { set: `set-${this.#edit}`, edit: this.#edit, atMs: 0 },
      change: { actor: '', why: '', source: '', atMs: 0 },
      document: this.#document,
      limits: this.#parsed(this.#document),
    };
  }

  async apply(edits: readonly LimitEdit[], by: EditAuthor): Promise<ApplyOutcome> {
    const fault = this.onApply(edits, by);
    if (fault === 'needs_confirmation' && by.confirmed !== true)
      return { outcome: 'needs_confirmation', rows: [], lockout: ['deploys of the platform'] };
    if (fault === 'lost-before') throw new LimitsError('limits_unavailable', 'lost before');
    const outcome = this.edit(edits, by);
    if (fault === 'lost-after') throw new LimitsError('limits_unavailable', 'lost after');
    return outcome;
  }

  /** As somebody else does it: nothing fails. */
  edit(edits: readonly LimitEdit[], by: Pick<EditAuthor, 'actor' | 'why' | 'source' | 'base'>): ApplyOutcome {
    if (by.base !== `set-${this.#edit}`) return { outcome: 'stale', live: undefined };
    const context = { actor: by.actor, nowMs: this.#nowMs(), newId: () => 'id' };
    const edited = editDocument(this.#document, edits, context);
    if (!edited.ok) return { outcome: 'invalid', problems: edited.problems };
    const parsed = parseLimits(edited.document, '', this.#policy);
    if (!parsed.ok) return { outcome: 'invalid', problems: parsed.problems };
    const rows = rowsOf(this.#parsed(this.#document), parsed.value);
    this.#document = edited.document;
    this.#edit += 1;
    const pointer = { set: `set-${this.#edit}`, edit: this.#edit, atMs: this.#nowMs() };
    this.entries.unshift({
      ...pointer,
      actor: by.actor,
      why: by.why,
      source: by.source,
      count: rows.length,
      rows,
    });
    return { outcome: 'live', pointer, rows };
  }

  /** Edits on the page, on top of whatever is live. */
  onPage(...edits: readonly LimitEdit[]): void {
    const by = { actor: 'finance', why: 'budget round', source: 'page', base: `set-${this.#edit}` };
    const { outcome } = this.edit(edits, by);
    if (outcome !== 'live') throw new Error(`the edit on the page: ${outcome}`);
  }

  async history({
    subject,
    before = Number.MAX_SAFE_INTEGER,
  }: {
    subject?: string;
    before?: number;
    max: number;
  }) {
    // Pages of two, so that whoever reads them has to turn them.
    const [first, second, third] = this.entries.filter(({ edit }) => edit < before);
    const entries = [first, second]
      .flatMap((each) => each ?? [])
      .map((each) => ({
        ...each,
        rows: (each.rows ?? []).filter((row) => subject === undefined || row.subject === subject),
      }));
    return { entries, ...(third !== undefined && second !== undefined && { next: second.edit }) };
  }

  #parsed(document: LimitsDocument): LimitSet {
    const parsed = parseLimits(document, '', this.#policy);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    return parsed.value;
  }
}

/** One row for each limit that differs: which of its fields does not matter here. */
function rowsOf(before: LimitSet, after: LimitSet): readonly ChangeRow[] {
  const textsOf = (set: LimitSet) =>
    new Map(
      [...set.bySubject.values()].flat().map((each) => [`${each.subject} ${each.id}`, JSON.stringify(each)]),
    );
  const [from, to] = [textsOf(before), textsOf(after)];
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((name) => from.get(name) !== to.get(name))
    .map((name) => {
      const [subject = '', limit = ''] = name.split(' ');
      return { about: 'limit', subject, limit, field: 'amount', from: null, to: null, effect: 'neutral' };
    });
}
