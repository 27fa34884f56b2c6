/**
 * The fallback answers that the ledger does not know yet, in one line per root group. Lines take turns, so that a root whose
 * counters are fought for holds up nobody else's answers.
 */
import { BATCH_BYTES_MAX, REQUESTS_MAX } from '../functions/core/contract/index.ts';

export interface UntoldAnswer {
  readonly jobId: number;
  readonly root: string;
  /** `UnmeteredAnswer`: made once, measured and sent. */
  readonly json: string;
  readonly bytes: number;
  /** How often the service refused this very answer, while it took others. */
  readonly refusals: number;
  /** How many answers the service had taken, of all, when this one came or was refused last. */
  readonly takenBefore: number;
}

interface Line {
  /** Oldest first. */
  answers: UntoldAnswer[];
  /** Monotonic; nothing of it is sent before. */
  dueMs: number;
  /** The one answer of this line travels alone: others were refused together with it. */
  readonly alone: boolean;
}

interface QueueBounds {
  readonly answersMax: number;
  readonly bytesMax: number;
}

export class UnmeteredQueue {
  readonly #bounds: QueueBounds;
  /** In the order of their turns. */
  readonly #lines = new Map<string, Line>();
  #size = 0;
  #bytes = 0;
  #aloneMade = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Adds an answer at the end of its root's line. Beyond the bounds the oldest answers of the longest line are given up and
   * returned: whoever floods pays, and the newest are worth more, because their jobs still run.
   */
  push(answer: UntoldAnswer): readonly UntoldAnswer[] {
    this.#lineOf(answer.root).answers.push(answer);
    this.#count(1, answer.bytes);
    return this.#shed();
  }

  /** Puts answers of one batch back where they came from, before what came meanwhile. Returns what had to be given up for it. */
  putBack(answers: readonly UntoldAnswer[]): readonly UntoldAnswer[] {
    for (const [root, some] of Map.groupBy(answers, (answer) => answer.root)) {
      const line = this.#lineOf(root);
      line.answers = [...some, ...line.answers];
      for (const { bytes } of some) this.#count(1, bytes);
    }
    return this.#shed();
  }

  /** An answer that is to be sent alone, not before `dueMs`. */
  putAlone(answer: UntoldAnswer, dueMs: number): readonly UntoldAnswer[] {
    this.#aloneMade += 1;
    this.#lines.set(`alone ${this.#aloneMade}`, { answers: [answer], dueMs, alone: true });
    this.#count(1, answer.bytes);
    return this.#shed();
  }

  /** Nothing of this root before `untilMs`; it is the turn of the others. */
  hold(root: string, untilMs: number): void {
    const line = this.#lines.get(lineName(root));
    if (line !== undefined) line.dueMs = untilMs;
  }

  /** Everything may be sent at once: there is no later. */
  hurry(): void {
    for (const line of this.#lines.values()) line.dueMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Takes the next batch out: by turns from all lines that are due, at most `countMax` answers about different jobs, within
   * the contract's bytes; one always fits.
   */
  take(nowMs: number, countMax = REQUESTS_MAX): readonly UntoldAnswer[] {
    const batch = new Map<number, UntoldAnswer>();
    let bytes = 0;
    for (let taken = true; taken; ) {
      taken = false;
      for (const [name, line] of [...this.#lines]) {
        if (batch.size >= Math.min(countMax, REQUESTS_MAX)) break;
        const [next] = line.answers;
        if (next === undefined || line.dueMs > nowMs || batch.has(next.jobId)) continue;
        if (batch.size > 0 && (line.alone || bytes + next.bytes > BATCH_BYTES_MAX)) continue;
        this.#takeFirst(name, line);
        batch.set(next.jobId, next);
        bytes += next.bytes;
        taken = true;
        if (line.alone) return [next];
      }
    }
    return [...batch.values()];
  }

  /** When the first line is due; undefined: nothing waits. */
  get dueMs(): number | undefined {
    let first: number | undefined;
    for (const { dueMs } of this.#lines.values()) first = Math.min(first ?? dueMs, dueMs);
    return first;
  }

  /** Takes everything out. */
  drain(): readonly UntoldAnswer[] {
    const all = [...this.#lines.values()].flatMap(({ answers }) => answers);
    this.#lines.clear();
    this.#size = 0;
    this.#bytes = 0;
    return all;
  }

  #lineOf(root: string): Line {
    const name = lineName(root);
    const line = this.#lines.get(name) ?? { answers: [], dueMs: Number.NEGATIVE_INFINITY, alone: false };
    this.#lines.set(name, line);
    return line;
  }

  /** The line goes to the end of the turns. */
  #takeFirst(name: string, line: Line): void {
    const first = line.answers.shift();
    this.#lines.delete(name);
    if (line.answers.length > 0) this.#lines.set(name, line);
    if (first !== undefined) this.#count(-1, -first.bytes);
  }

  #shed(): readonly UntoldAnswer[] {
    const shed: UntoldAnswer[] = [];
    while (this.#size > this.#bounds.answersMax || this.#bytes > this.#bounds.bytesMax) {
      const longest = this.#longest();
      const oldest = longest?.[1].answers[0];
      if (longest === undefined || oldest === undefined) break;
      this.#takeFirst(...longest);
      shed.push(oldest);
    }
    return shed;
  }

  #longest(): [string, Line] | undefined {
    let longest: [string, Line] | undefined;
    for (const entry of this.#lines) {
      if (longest === undefined || entry[1].answers.length > longest[1].answers.length) longest = entry;
    }
    return longest;
  }

  #count(answers: number, bytes: number): void {
    this.#size += answers;
    this.#bytes += bytes;
  }
}

const lineName = (root: string): string => `root ${root}`;
