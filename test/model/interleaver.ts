/** Orders the steps of everything that runs at once, by a seed: the same seed, the same order. */
import { seededRandom } from '../../scripts/local/random.ts';

export class Interleaver {
  readonly #waiting: (() => void)[] = [];
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Waits until it is this caller's turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** @throws the first failure, once nothing moves any more; or that somebody waits for what never comes. */
  async run(tasks: readonly (() => Promise<void>)[]): Promise<void> {
    let over: PromiseSettledResult<void>[] | undefined;
    void Promise.allSettled(tasks.map((task) => task())).then((results) => {
      over = results;
    });
    for (;;) {
      // Every promise that can go on has gone on by then: nothing in this world does real input or output.
      await new Promise((resolve) => setImmediate(resolve));
      if (over !== undefined) break;
      if (this.#waiting.length === 0) throw new Error('everybody waits and nobody has a turn to take');
      const [next] = this.#waiting.splice(Math.floor(this.#random() * this.#waiting.length), 1);
      next?.();
    }
    const failed = over.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
