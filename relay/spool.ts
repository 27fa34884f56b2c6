/**
 * Fallback answers on this machine's disk, from when they are given until function or table have them: a relay that is killed
 * while both are away leaves them to the next one on the same disk. One file, only ever appended to:
 *
 *     + 4711 {"request":{"jobId":4711,…},"answered":"admitted",…}
 *     - 4711
 *
 * Nothing is synced. What a process has written outlives the process; only the machine's end takes it, and a Fargate task's disk
 * ends with its machine. What is written twice, or told although it stands here, is booked once.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'tollgate-answers.spool';
/** Twice what may wait in memory: when the file is full, at least half of it is told and goes. */
const SPOOL_BYTES_MAX = 128 * 1024 * 1024;

interface SpoolOptions {
  readonly folder: string;
  /** Told when the file does not take an answer, which then waits in memory alone. */
  readonly failed: (error: unknown) => void;
  /** @default SPOOL_BYTES_MAX */
  readonly bytesMax?: number;
}

/** A relay whose disk cannot be written to answers all the same, and keeps its answers in memory alone. */
export function openSpool(options: SpoolOptions): Spool | undefined {
  try {
    return new Spool(options);
  } catch (error) {
    options.failed(error);
    return undefined;
  }
}

/** One relay at a time has the folder. */
export class Spool {
  readonly #file: string;
  readonly #options: SpoolOptions;
  /** How often each job's answers stand here. */
  readonly #waiting = new Map<number, number>();
  #left: readonly string[];
  #descriptor: number;
  #bytes: number;

  /** @throws {Error} of the system, when the folder cannot be written to. */
  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#file = join(options.folder, FILE);
    const { kept, bytes } = readSpool(this.#file);
    this.#descriptor = openSync(this.#file, 'a', 0o600);
    // The process may have died in the middle of its last line.
    ftruncateSync(this.#descriptor, bytes);
    this.#bytes = bytes;
    this.#left = kept.map(({ json }) => json);
    for (const { jobId } of kept) this.#waiting.set(jobId, (this.#waiting.get(jobId) ?? 0) + 1);
  }

  /** What an earlier relay left, oldest first: each an `UnmeteredAnswer`. Once. */
  takeLeft(): readonly string[] {
    const left = this.#left;
    this.#left = [];
    return left;
  }

  keep({ jobId, json }: { readonly jobId: number; readonly json: string }): void {
    const line = `+ ${jobId} ${json}\n`;
    this.#guarded(() => {
      if (!this.#hasRoomFor(line)) this.#compact();
      if (!this.#hasRoomFor(line)) throw new Error('the spool is full');
      this.#append(line);
      this.#waiting.set(jobId, (this.#waiting.get(jobId) ?? 0) + 1);
    });
  }

  /** They need no place here any more. */
  done(answers: readonly { readonly jobId: number }[]): void {
    const lines: string[] = [];
    for (const { jobId } of answers) {
      const times = this.#waiting.get(jobId);
      if (times === undefined) continue;
      if (times === 1) this.#waiting.delete(jobId);
      else this.#waiting.set(jobId, times - 1);
      lines.push(`- ${jobId}\n`);
    }
    if (lines.length === 0) return;
    this.#guarded(() => {
      if (this.#waiting.size === 0) this.#truncate(0);
      else this.#append(lines.join(''));
    });
  }

  #hasRoomFor(line: string): boolean {
    return this.#bytes + Buffer.byteLength(line) <= (this.#options.bytesMax ?? SPOOL_BYTES_MAX);
  }

  /** A full disk must not stop an answer, nor leave half a line before the next one. */
  #guarded(run: () => void): void {
    const before = this.#bytes;
    try {
      run();
    } catch (error) {
      this.#options.failed(error);
      try {
        this.#truncate(Math.min(before, this.#bytes));
      } catch {
        // Told already.
      }
    }
  }

  #append(text: string): void {
    const bytes = Buffer.from(text);
    const written = writeSync(this.#descriptor, bytes);
    if (written < bytes.length) throw new Error('the disk is full');
    this.#bytes += written;
  }

  #truncate(bytes: number): void {
    ftruncateSync(this.#descriptor, bytes);
    this.#bytes = bytes;
  }

  /** Writes what still waits into a new file, which takes the old one's place at once or not at all. */
  #compact(): void {
    const fresh = `${this.#file}.new`;
    const text = readSpool(this.#file)
      .kept.map(({ jobId, json }) => `+ ${jobId} ${json}\n`)
      .join('');
    const descriptor = openSync(fresh, 'w', 0o600);
    try {
      if (writeSync(descriptor, text) < Buffer.byteLength(text)) throw new Error('the disk is full');
      renameSync(fresh, this.#file);
    } finally {
      closeSync(descriptor);
    }
    closeSync(this.#descriptor);
    this.#descriptor = openSync(this.#file, 'a', 0o600);
    this.#bytes = Buffer.byteLength(text);
  }
}

interface KeptAnswer {
  readonly jobId: number;
  readonly json: string;
}

const LINE = /^(?:\+ (\d+) (\{.*\})|- (\d+))$/;

/** What still waits, and how many bytes are whole lines. A line that nobody can read is passed over. */
function readSpool(file: string): { readonly kept: readonly KeptAnswer[]; readonly bytes: number } {
  if (!existsSync(file)) return { kept: [], bytes: 0 };
  const text = readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const kept = new Map<number, string[]>();
  for (const line of whole.split('\n')) {
    const [, added, json = '', done] = LINE.exec(line) ?? [];
    const jobId = Number(added ?? done);
    const earlier = kept.get(jobId) ?? [];
    if (added !== undefined) kept.set(jobId, [...earlier, json]);
    else if (earlier.length > 1) kept.set(jobId, earlier.slice(1));
    else kept.delete(jobId);
  }
  const answers = [...kept].flatMap(([jobId, jsons]) => jsons.map((json) => ({ jobId, json })));
  return { kept: answers, bytes: Buffer.byteLength(whole) };
}
