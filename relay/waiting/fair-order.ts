/** The jobs of one relay that wait for room, and whose turn it is. */

/** Jobs that may take what a job before them waits for: small ones pass a large one so often, and then it is its turn alone. */
export const PASSES_MAX = 8;
/** Jobs of one line that are asked about at once: more than one, because a smaller one may fit where the first does not. */
export const HEADS_MAX = 4;

/** One job that waits. */
export interface Place {
  readonly jobId: number;
  readonly root: string;
  /** The lines it stands in: counters it waits for, as the last answer named them. */
  counters: readonly string[];
  /** Its place: lower goes first. */
  readonly tag: number;
  /** It is being asked about. Then: whom it passes if it is admitted. */
  passing: readonly Place[] | undefined;
  /** How often it has been passed, and how many that are being asked about could pass it. */
  passed: number;
  threatened: number;
  left: boolean;
}

/**
 * First come first served within a root group, and roots take turns by their weights, however many jobs one of them has. Nobody
 * is passed more than {@link PASSES_MAX} times by a job that was asked about later.
 */
export class FairOrder {
  readonly #weightOf: (root: string) => number;
  /** By tag. */
  readonly #places: Place[] = [];
  /** By root: the tag of its last job that waits. */
  readonly #lastTags = new Map<string, number>();
  readonly #countByRoot = new Map<string, number>();

  constructor(weightOf: (root: string) => number = () => 1) {
    this.#weightOf = weightOf;
  }

  get size(): number {
    return this.#places.length;
  }

  /** In the order of their turns. */
  get places(): readonly Place[] {
    return this.#places;
  }

  countOf(root: string): number {
    return this.#countByRoot.get(root) ?? 0;
  }

  join(jobId: number, root: string, counters: readonly string[]): Place {
    const [first] = this.#places;
    // Whoever comes now begins with those whose turn it is.
    const now = first === undefined ? 0 : first.tag - 1 / this.#weightOf(first.root);
    const tag = Math.max(now, this.#lastTags.get(root) ?? 0) + 1 / this.#weightOf(root);
    const place: Place = {
      ...{ jobId, root, counters, tag },
      ...{ passing: undefined, passed: 0, threatened: 0, left: false },
    };
    const after = this.#places.findIndex((other) => other.tag > tag);
    this.#places.splice(after === -1 ? this.#places.length : after, 0, place);
    this.#lastTags.set(root, tag);
    this.#countByRoot.set(root, this.countOf(root) + 1);
    return place;
  }

  leave(place: Place): void {
    if (place.left) return;
    place.left = true;
    this.answered(place, 'refused');
    this.#places.splice(this.#places.indexOf(place), 1);
    const count = this.countOf(place.root) - 1;
    this.#countByRoot.set(place.root, count);
    if (count > 0) return;
    this.#countByRoot.delete(place.root);
    this.#lastTags.delete(place.root);
  }

  /** Those that may be asked about now, beside those that are. */
  turns(): readonly Place[] {
    const heads = new Map<string, number>();
    const turns: Place[] = [];
    for (const place of this.#places) {
      const isHead = place.counters.every((name) => (heads.get(name) ?? 0) < HEADS_MAX);
      if (place.passing === undefined) {
        if (!isHead || !this.mayPass(place, turns)) continue;
        turns.push(place);
      }
      for (const name of place.counters) heads.set(name, (heads.get(name) ?? 0) + 1);
    }
    return turns;
  }

  /** Whether nobody before it has been passed too often. @param more - those that would be asked about as well. */
  mayPass(place: Place, more: readonly Place[] = []): boolean {
    return this.#before(place).every(
      (other) =>
        other.passed + other.threatened + more.filter((each) => isBehind(each, other)).length < PASSES_MAX,
    );
  }

  asked(place: Place): void {
    const passing = this.#before(place);
    for (const other of passing) other.threatened += 1;
    place.passing = passing;
  }

  answered(place: Place, outcome: 'admitted' | 'refused'): void {
    for (const other of place.passing ?? []) {
      other.threatened -= 1;
      if (outcome === 'admitted') other.passed += 1;
    }
    place.passing = undefined;
  }

  #before(place: Place): readonly Place[] {
    return this.#places.slice(0, this.#places.indexOf(place)).filter((other) => isBehind(place, other));
  }
}

const isBehind = (place: Place, other: Place): boolean =>
  other.tag <= place.tag && other !== place && other.counters.some((name) => place.counters.includes(name));
