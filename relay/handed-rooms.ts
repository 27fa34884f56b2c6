/**
 * Rooms outlive a relay whose disk does not: while relays answer alone, each writes down in the table what it knows and has given,
 * and one that starts takes it over. Nothing is written while the function answers, but once at the end.
 */
import type { RelayClock } from './exchange.ts';
import { withoutEnded } from './limit-room.ts';
import type { KeptRooms, RelayRoom, RoomChange } from './room.ts';

/** One write for many answers: what was given since then is given twice if the relay dies. */
const WRITE_AFTER_MS = 1_000;
/** The table does not take it. */
const AGAIN_AFTER_MS = 10_000;

interface HandedRoomsDeps {
  /** What the others wrote, as it was read when this relay started. */
  readonly left: readonly KeptRooms[];
  readonly write: (kept: KeptRooms) => Promise<void>;
  readonly clock: Pick<RelayClock, 'nowMs' | 'after'>;
  readonly room: Pick<RelayRoom, 'keep' | 'restore'>;
  readonly failed: (error: unknown) => void;
}

export class HandedRooms {
  readonly #deps: HandedRoomsDeps;
  #cancel: (() => void) | undefined;
  #writing: Promise<boolean> | undefined;
  /** Whether the table has less than this relay knows. */
  #isBehind = false;
  /** Given meanwhile, or refused by what nobody else may know. */
  #isWanted = false;
  #hasLeft = false;

  constructor(deps: HandedRoomsDeps) {
    this.#deps = deps;
  }

  restore(): void {
    const { left, room, clock } = this.#deps;
    room.restore(leastOf(left, clock.nowMs()));
  }

  changed(how: RoomChange): void {
    // A refusal changes nothing; but what it goes by, the next relay must know.
    if (how !== 'refused') this.#isBehind = true;
    if (how !== 'told' && this.#isBehind) this.#plan(WRITE_AFTER_MS);
  }

  /** The last word of a relay that stops: whoever takes its place may start in an outage. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#cancel?.();
    await this.#writing;
    if (this.#isBehind) await this.#write();
  }

  #plan(afterMs: number): void {
    this.#isWanted = true;
    if (this.#hasLeft || this.#cancel !== undefined || this.#writing !== undefined) return;
    this.#cancel = this.#deps.clock.after(afterMs, () => {
      this.#cancel = undefined;
      this.#writing = this.#write().then((isWritten) => {
        this.#writing = undefined;
        if (this.#isWanted) this.#plan(isWritten ? WRITE_AFTER_MS : AGAIN_AFTER_MS);
        return isWritten;
      });
    });
  }

  async #write(): Promise<boolean> {
    this.#isBehind = false;
    this.#isWanted = false;
    try {
      await this.#deps.write(this.#deps.room.keep('given'));
      return true;
    } catch (error) {
      this.#isBehind = true;
      this.#isWanted = true;
      this.#deps.failed(error);
      return false;
    }
  }
}

/**
 * Whose place this relay takes is known to nobody, so each limit is as the relay has it that has given most of its share: all
 * relays together then give what is left and no more.
 */
function leastOf(left: readonly KeptRooms[], nowMs: number): KeptRooms {
  const rooms = left
    .flatMap((kept) => kept.rooms)
    .map((room) => ({ ...room, ...withoutEnded(room, nowMs) }))
    .sort((a, b) => a.toldAtMs - b.toldAtMs);
  const byLimit = Map.groupBy(rooms, ({ room: { refusal } }) => limitOf(refusal.reason));
  return {
    rooms: [...byLimit.values()].flatMap((same) => {
      const newest = same.at(-1);
      if (newest === undefined) return [];
      const most = same
        .filter(({ resetsAtMs }) => resetsAtMs === newest.resetsAtMs)
        .reduce((one, other) => (other.spent > one.spent ? other : one), newest);
      return [{ ...newest, spent: most.spent, slots: most.slots }];
    }),
    given: left.flatMap(({ given }) => given),
  };
}

const limitOf = (reason: object): string => {
  const { subject, limit } = reason as { readonly subject?: string; readonly limit?: string };
  return `${subject}\n${limit}`;
};
