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

test.each([
  ['EPIPE', []],
  ['ENOSPC', ['stdout: no space is left (ENOSPC); free space, or write elsewhere\n']],
])('%s: the rest is dropped, and only a failure is reported', async (code, reported) => {
  const { stream, written } = closing(code);
  const lines: string[] = [];
  const out = sink(stream, (line) => lines.push(line));
  for (const text of ['a', 'b', 'c']) {
    out(text);
    await turn();
  }
  expect(written).toEqual(['a', 'b']);
  expect(lines).toEqual(reported);
});
