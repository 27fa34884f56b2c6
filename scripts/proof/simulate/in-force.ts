/** What is in force now, for the product and for the expectation: both are made of the same edition and share nothing else. */
import type { Rules } from '../../../functions/core/admission/index.ts';
import type { Estimator } from '../../../policies/estimate.ts';
import type { DatedEdition } from './draw-editions.ts';
import type { DrawnPlaces } from './draw-groups.ts';
import { AskedClaims } from './expected/asked-claims.ts';
import { monthRules } from './month-rules.ts';
import { Tree } from './tree.ts';

interface Current {
  readonly tree: Tree;
  /** The product's. */
  readonly rules: Rules;
  /** The expectation's. */
  readonly asked: AskedClaims;
}

interface InForceDeps {
  readonly editions: readonly DatedEdition[];
  readonly places: DrawnPlaces;
  readonly estimator: Estimator;
  readonly clock: { nowMs(): number };
}

export class EditionInForce {
  readonly #deps: InForceDeps;
  #position = -1;
  #current: Current | undefined;

  constructor(deps: InForceDeps) {
    this.#deps = deps;
  }

  get now(): Current {
    const { editions, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const before = this.#position;
    while ((editions[this.#position + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= nowMs) this.#position += 1;
    if (this.#current === undefined || this.#position > before) this.#current = this.#made();
    return this.#current;
  }

  #made(): Current {
    const { editions, places, estimator } = this.#deps;
    const edition = editions[this.#position]?.edition;
    if (edition === undefined) throw new RangeError('nothing is in force before the month begins');
    const tree = new Tree(places, edition.parentOf);
    return { tree, rules: { ...monthRules(edition, tree), estimator }, asked: new AskedClaims(edition) };
  }
}
