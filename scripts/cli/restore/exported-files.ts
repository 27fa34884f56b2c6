import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../../terminal/command.ts';

/**
 * The lines of all files of an export, in the order of their names, which is about the order of time.
 *
 * @throws {UsageError} if there is none, {Error} naming a file that cannot be read.
 */
export async function* exportedLines(folder: string): AsyncGenerator<string> {
  for (const file of await filesIn(folder)) {
    const unpacked = createReadStream(file)
      .on('error', (error) => unpacked.destroy(error))
      .pipe(createGunzip());
    try {
      for await (const line of createInterface({ input: unpacked, crlfDelay: Number.POSITIVE_INFINITY })) {
        if (line !== '') yield line;
      }
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : 'not readable'}; copy it again`, {
        cause: error,
      });
    }
  }
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => [] as string[]);
  const files = names.filter((name) => name.endsWith('.jsonl.gz')).sort();
  if (files.length === 0) {
    throw new UsageError(
      `${folder}: has no exported files (*.jsonl.gz); expected a copy of the export's bucket, as "aws s3 sync" makes it`,
    );
  }
  return files.map((name) => join(folder, name));
}
