import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { sink } from '../../../scripts/terminal/sink.ts';

const closing = (code: string): { readonly stream: Writable; readonly written: string[] } => {
  const written: string[] = [];
  const stream = new Writable({
    autoDestroy: false,
    write: (chunk: Buffer, _, done) => {
      written.push(String(chunk));
      done(written.length < 2 ? null : Object.assign(new Error(code), { code }));
    },
  });
  return { stream, written };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a reader who leaves is no failure, and gets nothing more', async () => {
  const { stream, written } = closing('EPIPE');
  const out = sink(stream);
  for (const text of ['a', 'b', 'c']) {
    out(text);
    await turn();
  }
  expect(written).toEqual(['a', 'b']);
});
