/**
 * What was last known to be left of the limits, on this machine's disk: a relay that starts while nobody can be asked goes on
 * from where the one before it was. One file, beside the answers of `spool.ts`, replaced whole or not at all.
 */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../policies/document/reading.ts';
import type { RelayClock } from './exchange.ts';
import { type KeptLimitRoom, SLOTS_MAX } from './limit-room.ts';
import { parseRooms } from './match-answers.ts';
import type { KeptRooms, RelayRoom, RoomChange } from './room.ts';

const FILE = 'tollgate-rooms.json';
const VERSION = 1;
export const KEPT_ROOMS_BYTES_MAX = 8 * 1024 * 1024;
/** Nobody knows any more what became of a limit since. */
export const KEPT_ROOMS_AGE_MS_MAX = 24 * 3_600_000;
/** While the ledger tells it anew every second, an old one does little harm; what is given alone is known here only. */
const WRITE_AFTER_MS = { told: 10_000, given: 1_000 } as const;

interface RoomFileDeps {
  readonly folder: string;
  readonly clock: Pick<RelayClock, 'nowMs' | 'monotonicMs' | 'after'>;
  readonly room: Pick<RelayRoom, 'keep' | 'restore'>;
  /** Told when the file could not be written; the rooms are in memory alone then. */
  readonly failed: (error: unknown) => void;
}

/** One relay at a time has the folder. */
export class RoomFile {
  readonly #deps: RoomFileDeps;
  readonly #file: string;
  #planned: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(deps: RoomFileDeps) {
    this.#deps = deps;
    this.#file = join(deps.folder, FILE);
  }

  /** A file that nobody can read is none. */
  restore(): void {
    const { room, clock } = this.#deps;
    try {
      if (statSync(this.#file).size > KEPT_ROOMS_BYTES_MAX) return;
      room.restore(keptRoomsIn(JSON.parse(readFileSync(this.#file, 'utf8')), clock.nowMs()));
    } catch {
      // The first relay here, or a file of somebody else's.
    }
  }

  /** Writes soon; the soonest plan counts. */
  changed(how: RoomChange): void {
    if (how === 'refused') return;
    const { clock } = this.#deps;
    const atMs = clock.monotonicMs() + WRITE_AFTER_MS[how];
    if (this.#planned !== undefined && this.#planned.atMs <= atMs) return;
    this.#planned?.cancel();
    this.#planned = { atMs, cancel: clock.after(WRITE_AFTER_MS[how], () => this.write(how)) };
  }

  write(how: keyof typeof WRITE_AFTER_MS = 'given'): void {
    this.#planned?.cancel();
    this.#planned = undefined;
    const fresh = `${this.#file}.new`;
    try {
      const text = keptRoomsText(this.#deps.room.keep(how));
      if (Buffer.byteLength(text) > KEPT_ROOMS_BYTES_MAX)
        throw new Error('the rooms are too many to be kept');
      writeFileSync(fresh, text, { mode: 0o600 });
      renameSync(fresh, this.#file);
    } catch (error) {
      this.#deps.failed(error);
    }
  }
}

export const keptRoomsText = (kept: KeptRooms): string => JSON.stringify({ version: VERSION, ...kept });

/** What can be read of it, and is of the last day. */
export function keptRoomsIn(file: unknown, nowMs: number): KeptRooms {
  if (!isRecord(file) || file.version !== VERSION) return { rooms: [], given: [] };
  const { rooms, given } = file;
  return {
    rooms: Array.isArray(rooms)
      ? rooms
          .filter(isKept)
          .filter(({ toldAtMs }) => toldAtMs <= nowMs && nowMs - toldAtMs <= KEPT_ROOMS_AGE_MS_MAX)
      : [],
    given: Array.isArray(given) ? given.filter((jobId) => Number.isSafeInteger(jobId)) : [],
  };
}

const isKept = (value: unknown): value is KeptLimitRoom =>
  isRecord(value) &&
  parseRooms({ room: [value.room] }).length === 1 &&
  [value.toldAtMs, value.left, value.spent].every(Number.isFinite) &&
  (value.resetsAtMs === undefined || Number.isFinite(value.resetsAtMs)) &&
  Array.isArray(value.slots) &&
  value.slots.length <= SLOTS_MAX &&
  value.slots.every((slot) => isRecord(slot) && Number.isFinite(slot.endsMs) && Number.isFinite(slot.amount));
